// Takes the README's screenshots of the running demo: screenshots.mjs FOLDER MINUTES

import { mkdirSync, statSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { startChromium, startDemo } from "./service.mjs";

const [folder, minutes] = process.argv.slice(2);
const PICTURES = [
  { file: "overview.png", address: "#/", scheme: "light", height: 520 },
  { file: "application.png", address: "#/application?name=frontend", scheme: "dark", height: 1000 },
  { file: "services.png", address: "#/services?node=checkout", scheme: "light", height: 900 },
  { file: "pipeline.png", address: "#/pipeline", scheme: "light", height: 1060 },
];

mkdirSync(folder, { recursive: true });
const demo = await startDemo(["--rate=400"]);
let chromium = null;
try {
  console.log(`The demo runs at ${demo.web}; screenshots follow after ${minutes} min of load.`);
  await pause(Number(minutes) * 60_000);
  chromium = await startChromium();
  for (const { file, address, scheme, height } of PICTURES) {
    const context = await chromium.newContext({
      viewport: { width: 1280, height },
      colorScheme: scheme,
      locale: "en-GB",
      reducedMotion: "reduce",
    });
    const page = await context.newPage();
    await page.goto(`${demo.web}/${address}`);
    await page.locator("#view[aria-busy=false]").waitFor();
    await page.screenshot({ path: `${folder}/${file}` });
    await context.close();
    console.log(`${folder}/${file}: ${Math.round(statSync(`${folder}/${file}`).size / 1000)} kB`);
  }
} finally {
  await chromium?.close();
  await demo.stop();
}
