// Runs before the first paint, so that a chosen scheme does not flash in the other one.
(() => {
  try {
    const chosen = localStorage.getItem("trace-etl-scheme");
    if (chosen === "light" || chosen === "dark") {
      document.documentElement.dataset.scheme = chosen;
    }
  } catch {
    // Storage may be forbidden; the system's scheme holds then.
  }
})();
