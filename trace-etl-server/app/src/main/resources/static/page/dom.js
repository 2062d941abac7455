// Makes elements. Data comes in as text alone: nothing here reads markup.

/**
 * @param {string} tag
 * @param {Object=} properties attributes; `onclick` and the like listen; null and false are left out
 * @param {...(Node|string|null)} children
 */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) {
      continue;
    }
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), value);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, String(value));
  }
  element.append(...children);
  return element;
}

// Controls, what turns the direction of text, what is not seen, and halves of surrogate pairs.
const UNSEEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\ufff9-\uffff\u{e0000}-\u{e0fff}]|\p{Surrogate}/gu;
const CELL_CHARACTERS = 160;
const TITLE_CHARACTERS = 2_000;

/** What an unseen character is shown as: its number. */
function shown(character) {
  return `[U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}]`;
}

/** The text with each unseen character as one that is seen. */
export function visible(text) {
  return text.replace(UNSEEN, shown);
}

/** The first characters, no pair of surrogates cut in two. */
export function cut(text, characters) {
  if (text.length <= characters) {
    return text;
  }
  const end = /[\ud800-\udbff]/.test(text[characters - 1]) ? characters - 1 : characters;
  return `${text.slice(0, end)}…`;
}

function parts(text) {
  const nodes = [];
  let from = 0;
  for (const match of text.matchAll(UNSEEN)) {
    nodes.push(text.slice(from, match.index), el("span", { class: "unseen" }, shown(match[0])));
    from = match.index + match[0].length;
  }
  nodes.push(text.slice(from));
  return nodes.filter((node) => node !== "");
}

/** A name of somebody else's choice: isolated, its unseen characters shown, cut when long. */
export function name(text, characters = CELL_CHARACTERS) {
  if (text === "") {
    return el("i", { class: "muted" }, "(no name)");
  }
  const short = cut(text, characters);
  const title = short.length > 24 || short !== visible(short);
  return el(
    "bdi",
    { class: "name", title: title ? visible(cut(text, TITLE_CHARACTERS)) : null },
    ...parts(short),
  );
}

/** All of a long name, behind a button. */
export function wholeName(text) {
  return el(
    "details",
    { class: "long" },
    el("summary", {}, `All ${text.length.toLocaleString("en")} characters`),
    el("pre", { tabindex: "0", role: "group", "aria-label": "The whole name" }, el("bdi", {}, ...parts(text))),
  );
}

/** A time, with the exact one in UTC behind it. */
export function moment(text, format) {
  const millis = Date.parse(text);
  return el("time", { datetime: text, title: text }, Number.isNaN(millis) ? visible(text) : format(millis));
}

/** A number that says that there is nothing of a kind: it steps back. */
export function nothing(text) {
  return el("span", { class: "muted" }, text);
}

/** A mark: a sign and a word, so that its colour is never all it has. */
export function mark(kind, sign, word) {
  return el("span", { class: `mark ${kind}` }, el("span", { "aria-hidden": "true" }, `${sign} `), word);
}

export const REASONS = new Map([
  ["error", { sign: "✕", word: "failed", kind: "bad" }],
  ["slow", { sign: "▲", word: "slow", kind: "warn" }],
  ["exemplar", { sign: "●", word: "exemplar", kind: "plain" }],
]);

export function reason(text) {
  const known = REASONS.get(text);
  return known ? mark(known.kind, known.sign, known.word) : el("span", {}, name(String(text)));
}

/** Says something to who does not see the page. */
export function announce(text) {
  const live = document.getElementById("live");
  live.textContent = live.textContent === text ? `${text}\u00a0` : text;
}

let probe = null;

/** What a colour of the style sheet is in the scheme that holds, for a canvas. */
export function colour(variable) {
  if (probe === null) {
    probe = el("span", { hidden: true });
    document.body.append(probe);
  }
  probe.style.color = `var(${variable})`;
  return getComputedStyle(probe).color;
}

let unique = 0;

export function uniqueId(prefix) {
  return `${prefix}-${++unique}`;
}

/** Radio buttons that look like one switch. */
export function choice(legend, options, onChoose) {
  const group = uniqueId("choice");
  const inputs = new Map();
  const fieldset = el("fieldset", { class: "choice" }, el("legend", { class: "hidden" }, legend));
  for (const [value, label] of options) {
    const input = el("input", {
      type: "radio",
      name: group,
      value,
      onchange: () => onChoose(value),
    });
    inputs.set(value, input);
    fieldset.append(el("label", {}, input, el("span", {}, label)));
  }
  return {
    element: fieldset,
    set(value) {
      const input = inputs.get(value);
      if (input) {
        input.checked = true;
      }
    },
  };
}

/** A field to search by, that tells what was typed once typing pauses. */
export function searchField(label, onSearch) {
  let pending = 0;
  const input = el("input", {
    type: "search",
    placeholder: label,
    "aria-label": label,
    maxlength: "1000",
    spellcheck: "false",
    autocomplete: "off",
    oninput: () => {
      clearTimeout(pending);
      pending = setTimeout(() => onSearch(input.value), 200);
    },
    onkeydown: (event) => {
      if (event.key === "Enter") {
        clearTimeout(pending);
        onSearch(input.value);
      }
    },
  });
  return {
    element: input,
    set(value) {
      if (document.activeElement !== input) {
        input.value = value;
      }
    },
  };
}
