// The one way to the data: the same questions that `curl` can ask. Answers are kept until the index changes.

const TOKEN = 'lacon-token';
const MOST_KEPT = 200;

/** A question that was not answered, and why. */
export class Refused extends Error {
  constructor(code, message, status) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

const kept = new Map();
const listeners = new Set();

/** What the server says of its indexes; `connected` is false while it is away. */
export const state = { connected: false, index: null };

/** Called whenever `state` changes; `isNew` when answers may differ from before. */
export function onState(listener) {
  listeners.add(listener);
}

function tell(isNew) {
  if (isNew) kept.clear();
  for (const listener of listeners) listener(isNew);
}

/** Exchanges the code in the address for a token, where there is one. */
export async function enter() {
  const code = new URLSearchParams(location.hash.slice(1)).get('enter');
  if (!code) return;
  history.replaceState(null, '', location.pathname + location.search);
  const answer = await send('/api/enter', { method: 'POST', body: code }, false);
  localStorage.setItem(TOKEN, answer.token);
}

export function useToken(token) {
  localStorage.setItem(TOKEN, token);
}

async function send(address, options = {}, isJson = true) {
  const headers = { ...options.headers };
  const token = localStorage.getItem(TOKEN);
  if (token && address !== '/api/enter') headers.authorization = `Bearer ${token}`;
  let response;
  try {
    response = await fetch(address, { ...options, headers });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Refused('unreachable', 'It may have ended, or is being started again. This page tries again by itself.', 0);
  }
  const text = await response.text();
  if (response.ok) {
    return response.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : text;
  }
  let refusal = null;
  try { refusal = JSON.parse(text).error; } catch { /* not ours: a proxy's, perhaps */ }
  const why = new Refused(refusal?.code ?? 'refused', refusal?.message ?? text.slice(0, 300), response.status);
  throw Object.assign(why, { detail: refusal?.detail });
}

async function remembered(key, ask) {
  if (kept.has(key)) return kept.get(key);
  const answer = await ask();
  if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value);
  kept.set(key, answer);
  return answer;
}

/** Asks a tool. Everything fits unless the call says otherwise: people scroll. */
export function ask(tool, args, signal) {
  const body = JSON.stringify({ max_tokens: 400000, ...args });
  return remembered(`${tool} ${body}`, () => send(`/api/ask/${tool}`, { method: 'POST', body, signal }));
}

/** Asks a question that only pages have. */
export function get(question, args = {}, signal) {
  const known = Object.entries(args).filter(([, value]) => value !== null && value !== undefined && value !== '');
  const address = `/api/${question}${known.length ? `?${new URLSearchParams(known)}` : ''}`;
  return remembered(address, () => send(address, { signal }));
}

/** The same, never from what is kept. */
export function fresh(question, options = {}) {
  return send(`/api/${question}`, options);
}

/** A question with a body. */
export function post(question, args, signal) {
  return send(`/api/${question}`, { method: 'POST', body: JSON.stringify(args), signal });
}

/** Follows the server for as long as the page is open, and finds it again when it comes back. */
export async function follow() {
  let pause = 500;
  for (;;) {
    try {
      const token = localStorage.getItem(TOKEN);
      const response = await fetch('/api/events', { headers: token ? { authorization: `Bearer ${token}` } : {} });
      if (response.status === 401) {
        state.connected = false;
        tell(false);
        return 'unauthorized';
      }
      if (!response.ok) throw new Error(String(response.status));
      pause = 500;
      await read(response.body);
    } catch { /* told below */ }
    state.connected = false;
    tell(false);
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 2, 5000);
  }
}

async function read(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    waiting += value;
    const events = waiting.split('\n\n');
    waiting = events.pop();
    for (const event of events) {
      const data = event.split('\n').filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trim()).join('\n');
      if (!data) continue;
      const before = digests(state.index);
      const first = state.index === null;
      state.index = JSON.parse(data);
      const isBack = !state.connected;
      state.connected = true;
      tell((isBack && !first) || before !== digests(state.index));
    }
  }
}

function digests(index) {
  return JSON.stringify([(index?.repositories ?? []).map((repository) => repository.digest), index?.gateway ?? null]);
}
