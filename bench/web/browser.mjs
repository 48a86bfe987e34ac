// SPDX-License-Identifier: MIT
//
// browser.mjs — the pages in a real browser, measured from inside: bench/web/browser starts it.
//
//   node bench/web/browser.mjs ADDRESS LINK TOKEN EXPERIMENT DATABASE     one JSON object on standard output
//
// table_ms   from asking for the page to the frame that shows the first rows of 100,000 runs
// curves_ms  from asking for the view to the frame that shows 100 runs × 100,000 points
// tab_ms     the same from pressing the tab on a page that is there, and has asked for nothing of it
// pixel_ms   from sending a value to the frame that shows it, 200 series live on one chart
// core       processor time of all of the browser over the clock's, meanwhile
import { createRequire } from 'node:module';
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const top = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const { chromium } = createRequire(join(top, 'web', 'package.json'))('playwright-core');
const [, , address, link, token, many, curves] = process.argv;
const rounds = 7;
const rows = '[role=row] [role=gridcell], tbody tr td';
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const quantile = (list, q) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.ceil(q * list.length) - 1)];

const server = await chromium.launchServer({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: process.getuid() === 0 ? ['--no-sandbox'] : [],
});
const browser = await chromium.connect(server.wsEndpoint());
const context = await browser.newContext({ viewport: { width: 1400, height: 900 } });
const page = await context.newPage();
await page.goto(link);
await page.waitForSelector('.top-bar');

// Runs in the page: press what is named, if something is; when has the frame in which the condition
// holds been given to the screen? Lines are drawn in the step that sets their number.
function seen([press, wanted]) {
    const began = press ? performance.now() : 0;
    if (press) document.querySelector(press).click();
    return new Promise((done) => {
        const look = () => {
            if (document.querySelector(wanted)) requestAnimationFrame(() => setTimeout(() => done(performance.now() - began), 0));
            else requestAnimationFrame(look);
        };
        look();
    });
}

// From the navigation's beginning.
async function shown(hash, selector) {
    await page.goto('about:blank');
    await page.goto(`${address}/${hash}`, { waitUntil: 'commit' });
    return page.evaluate(seen, ['', selector]);
}

// From pressing a link on a page that is there and at rest.
async function pressed(hash, link, selector) {
    await page.goto('about:blank');
    await page.goto(`${address}/${hash}`);
    await page.waitForSelector('.live-dot.live');
    await page.waitForSelector(rows);
    await new Promise((done) => setTimeout(done, 500));
    return page.evaluate(seen, [link, selector]);
}

async function times(measure, ...args) {
    const list = [];
    for (let i = 0; i < rounds; i++) list.push(await measure(...args));
    return list;
}

// ---- live values ----

function browserSeconds() {
    const wanted = new Set([server.process().pid]);
    const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    let ticks = 0;
    for (let found = true; found; ) {
        found = false;
        for (const pid of all) {
            let fields;
            try {
                fields = readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\) /s, '').split(' ');
            } catch {
                continue;
            }
            if (!wanted.has(Number(pid)) && wanted.has(Number(fields[1]))) {
                wanted.add(Number(pid));
                found = true;
            }
        }
    }
    for (const pid of wanted) {
        try {
            const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\) /s, '').split(' ');
            ticks += Number(fields[11]) + Number(fields[12]);
        } catch {
            continue;
        }
    }
    return ticks / 100;
}

async function send(step) {
    const lines = Array.from({ length: 200 }, (_, i) => `live,run=${i} value=${Math.sin(step / 9 + i)},step=${step}i`).join('\n');
    const answer = await fetch(`${address}/write?db=live`, { method: 'POST', body: lines, headers: { Authorization: `Bearer ${token}` } });
    if (answer.status !== 204) throw new Error(`/write answered ${answer.status}`);
}

async function live() {
    for (let step = 0; step < 5; step++) await send(step);
    const list = await (await fetch(`${address}/v1/experiments`, { headers: { Authorization: `Bearer ${token}` } })).json();
    const number = list.experiments.find((row) => row.name === 'live').experiment;
    await new Promise((done) => setTimeout(done, 3000)); // until the figures of these trials are summed up
    await page.goto('about:blank');
    await page.goto(`${address}/#/e/${number}/curves?pick=newest&n=200`);
    await page.waitForSelector('[data-lines="200"]');
    await page.waitForSelector('.live-dot.live');
    await new Promise((done) => setTimeout(done, 1000)); // what may have been missed before it was live is loaded
    await page.evaluate(() => {
        window.ticks = [];
        const panel = document.querySelector('[data-tick]');
        new MutationObserver(() => requestAnimationFrame(() => setTimeout(() => window.ticks.push(performance.timeOrigin + performance.now()), 0)))
            .observe(panel, { attributes: true, attributeFilter: ['data-tick'] });
    });
    const waits = [];
    const cpu = browserSeconds();
    const began = performance.now();
    for (let step = 5; step < 65; step++) {
        await page.evaluate(() => (window.ticks.length = 0));
        const sent = performance.timeOrigin + performance.now();
        await send(step);
        await new Promise((done) => setTimeout(done, 900));
        const ticks = await page.evaluate(() => window.ticks);
        if (!ticks.length) throw new Error(`step ${step} was not drawn within 900 ms`);
        waits.push(ticks[ticks.length - 1] - sent);
    }
    return { pixel_ms: waits, core: (browserSeconds() - cpu) / ((performance.now() - began) / 1000) };
}

const table = await times(shown, `#/e/${many}`, rows);
const overlaid = await times(shown, `#/e/${curves}/curves?pick=newest&n=100`, '[data-lines="100"]');
const hundred = Array.from({ length: 100 }, (_, i) => i + 1).join(',');
const tab = await times(pressed, `#/e/${curves}?sel=${hundred}`, '.tabs a[href*="/curves"]', '[data-lines="100"]');
const points = await live();
console.log(JSON.stringify({
    table_ms: median(table),
    table_all: table,
    curves_ms: median(overlaid),
    curves_first: overlaid[0],
    tab_ms: median(tab),
    tab_first: tab[0],
    pixel_p50: quantile(points.pixel_ms, 0.5),
    pixel_p95: quantile(points.pixel_ms, 0.95),
    core: points.core,
}));
await browser.close();
await server.close();
