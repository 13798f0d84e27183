// What answers cost, beside what the same facts would have cost as compact JSON and as the files they are about. Counted, not guessed.

import { fresh } from '/assets/api.js';
import { empty, failure, h, loading, number, percent, put, section, shown, svg } from '/assets/dom.js';

const PARTS = [['sent', 'sent'], ['json', 'the same as compact JSON'], ['files', 'the files they are about']];

export function draw({ root, signal }) {
  const box = h('div', {}, loading('Reading the books'));
  root.append(h('div', { class: 'head' }, h('h1', {}, 'Savings'), h('span', { class: 'muted' }, 'Tokens (o200k) of the answers that ', h('code', {}, 'lacon mcp'), ' gave here')), box);
  async function show() {
    try {
      const found = await fresh('savings');
      if (!signal.aborted) fill(box, found);
    } catch (error) {
      if (!signal.aborted) put(box, failure(error, show));
    }
  }
  show();
  return { refresh: show };
}

function fill(box, found) {
  if (!found?.all) {
    put(box, empty('Nothing was counted yet', h('p', {}, 'Answers are counted while an agent asks ', h('code', {}, 'lacon mcp'), '. ', h('code', {}, 'lacon init'), ' sets agents up. What this page asks is not counted.')));
    return;
  }
  const { all } = found;
  const figure = (value, name) => h('div', { class: 'figure' }, h('b', {}, value), h('span', {}, name));
  put(box, 
    h('div', { class: 'figures' }, figure(number(all.calls), 'answers'), figure(number(all.sent), 'tokens sent'), figure(percent(all.saved_against_json), 'less than compact JSON'), figure(percent(all.saved_against_files), 'less than reading the files')),
    h('p', { class: 'muted' }, 'What was sent and the JSON are exact counts. “The files” is what an agent would read that opens each file an answer speaks of, whole, 40 at most for each answer: an estimate from above. The books hold the last few thousand answers.'),
    section('By day', null, chart(found.days ?? [])),
    section('By tool', found.tools.length, table(found.tools, 'tool', 'Tool', (row) => row.tool)),
    section('Newest conversations', found.sessions.length, table(found.sessions, 'session', 'Conversation', (row) => row.session)));
}

function table(rows, key, title, name) {
  const most = Math.max(...rows.map((row) => row.json), 1);
  return h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': title }, h('table', {}, h('thead', {}, h('tr', {}, h('th', {}, title), ['Answers', 'Sent', 'As JSON', 'Saved', 'Files', 'Saved'].map((one) => h('th', { class: 'n' }, one)), h('th', {}, 'Sent of JSON'))),
    h('tbody', {}, [...rows].sort((one, other) => (key === 'tool' ? other.sent - one.sent : 0)).map((row) => h('tr', {}, h('td', { class: 'mono' }, shown(name(row))),
      [number(row.calls), number(row.sent), number(row.json), percent(row.saved_against_json), number(row.files), percent(row.saved_against_files)].map((value) => h('td', { class: 'n' }, value)),
      h('td', {}, h('span', { class: 'bar c-sent', style: { width: `${(110 * row.sent) / most}px` } }), h('span', { class: 'bar c-json', style: { width: `${(110 * Math.max(row.json - row.sent, 0)) / most}px` } })))))));
}

/** Bars for each day: sent, as JSON, as files. Files are far larger, so that each has the height of its root. */
function chart(days) {
  const shownDays = days.slice(-30);
  if (!shownDays.length) return h('p', { class: 'muted' }, 'No days yet');
  const [width, height, left, low] = [900, 220, 8, 24];
  const most = Math.max(...shownDays.flatMap((day) => [day.sent, day.json, day.files]), 1);
  const tall = (value) => (height - low - 16) * Math.sqrt(value / most);
  const step = Math.min((width - left) / shownDays.length, 90);
  const name = (day) => new Date(Number(day.day) * 1000).toISOString().slice(5, 10);
  const bars = shownDays.map((day, at) => PARTS.map(([key, what], part) => {
    const size = tall(day[key]);
    return svg('rect', { class: `c-${key}`, x: left + at * step + part * (step * 0.28), y: height - low - size, width: Math.max(step * 0.25, 1), height: Math.max(size, 0.5) }, svg('title', {}, `${name(day)}: ${number(day[key])} tokens, ${what}`));
  }));
  const labels = shownDays.filter((_, at) => at % Math.ceil(shownDays.length / 12) === 0).map((day) => svg('text', { x: left + shownDays.indexOf(day) * step, y: height - 8 }, name(day)));
  return h('div', {}, svg('svg', { class: 'chart', viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'xMinYMid meet', role: 'img', 'aria-label': `Tokens by day: ${shownDays.map((day) => `${name(day)} ${number(day.sent)} sent, ${number(day.json)} as JSON`).join('; ')}` },
    svg('line', { class: 'axis', x1: left, x2: width, y1: height - low, y2: height - low }), bars, labels),
  PARTS.map(([key, what]) => h('span', { class: 'key' }, h('i', { class: `c-${key}` }), what)), h('span', { class: 'muted' }, 'Heights are square roots; the tables have the figures.'));
}
