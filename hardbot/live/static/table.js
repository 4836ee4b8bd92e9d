"use strict";
// The table in the browser. The server decides everything; this script draws states and sends what the person does.

const $ = (id) => document.getElementById(id);
const SUITS = { c: ["♣", "clubs"], d: ["♦", "diamonds"], h: ["♥", "hearts"], s: ["♠", "spades"] };
const RANKS = { A: "ace", K: "king", Q: "queen", J: "jack", T: "ten" };
const ORDER = "AKQJT98765432";
const SVG = "http://www.w3.org/2000/svg";

let state = null; // the last one drawn
let busy = false; // a request of ours is on its way
const study = { open: false, hand: null, data: null, frame: 0, asked: 0 };

// Small things

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

function draw(tag, attributes = {}, text = "") {
  const element = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== "") element.textContent = text;
  return element;
}

const number = (value, digits = 2) => Number(value).toFixed(digits).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
const signed = (value, digits = 2) => {
  const text = number(Math.abs(value), digits);
  return text === "0" ? "0" : (value < 0 ? "−" : "+") + text;
};
const tone = (value) => (value > 0 ? "good" : value < 0 ? "bad" : "");
const sb = (chips) => number(chips / state.small_bet);
const named = (card) => `${RANKS[card[0]] || card[0]} of ${SUITS[card[1]][1]}`;

function playingCard(card, kind = "") {
  if (card === null) return make("span", { class: `pc ${kind}`, "aria-hidden": "true" });
  const face = make("span", { class: `pc ${card[1]} ${kind}`, role: "img", "aria-label": named(card) });
  face.append(card[0] === "T" ? "10" : card[0], make("i", {}, SUITS[card[1]][0] + "\uFE0E"));
  return face;
}

function cardText(text) {
  // Words with cards such as Ah made readable: A♥ on the screen, "ace of hearts" for a screen reader.
  const parts = document.createDocumentFragment();
  for (const piece of text.split(/(\b[2-9TJQKA][cdhs]\b)/)) {
    if (/^[2-9TJQKA][cdhs]$/.test(piece)) {
      parts.append(make("span", { class: `t-${piece[1]}`, role: "img", "aria-label": named(piece) },
        piece[0] + SUITS[piece[1]][0] + "\uFE0E"));
    } else parts.append(piece);
  }
  return parts;
}

function warn(text) {
  $("alert").textContent = text;
  $("alert").hidden = !text;
}

async function ask(path, body) {
  const options = body === undefined ? {} : {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body),
  };
  const answer = await fetch(path, options);
  const document_ = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(document_.error || answer.statusText), { status: answer.status });
  return document_;
}

// The lobby

async function openLobby() {
  document.title = "HardBot – sit down";
  $("lobby").hidden = false;
  const offered = await ask("/api/bots");
  const bots = offered.bots;
  const kept = JSON.parse(localStorage.getItem("bots") || "null");
  const known = new Set(bots.map((bot) => bot.bot));
  const first = kept && kept.length && kept.every((bot) => known.has(bot)) ? kept : offered.default;
  $("person").value = localStorage.getItem("person") || "you";
  first.forEach((bot) => addChair(bots, bot));
  checkChairs(bots);
  $("add-bot").onclick = () => {
    const ring = bots.find((bot) => bot.max_seats > 2);
    addChair(bots, ring ? ring.bot : bots[0].bot);
    checkChairs(bots);
    $("chosen").lastElementChild.querySelector("select").focus();
  };
}

function addChair(bots, chosen) {
  const select = make("select", {});
  for (const bot of bots) {
    const option = make("option", { value: bot.bot }, bot.bot + (bot.max_seats === 2 ? " (heads-up only)" : ""));
    option.selected = bot.bot === chosen;
    select.append(option);
  }
  const note = make("small");
  const remove = make("button", { type: "button", class: "plain", "aria-label": "Remove this opponent" }, "✕");
  const item = make("li", {}, select, remove, note);
  remove.onclick = () => { item.remove(); checkChairs(bots); $("add-bot").focus(); };
  select.onchange = () => checkChairs(bots);
  $("chosen").append(item);
}

function checkChairs(bots) {
  const items = [...$("chosen").children];
  const facts = Object.fromEntries(bots.map((bot) => [bot.bot, bot]));
  const wrong = [];
  items.forEach((item, i) => {
    const select = item.querySelector("select"), bot = facts[select.value];
    select.setAttribute("aria-label", `Opponent ${i + 1}`);
    item.querySelector("small").textContent = bot.summary;
    item.querySelector("button").disabled = items.length === 1;
    if (items.length + 1 > bot.max_seats) wrong.push(bot.bot);
  });
  $("add-bot").disabled = items.length >= 9;
  const names = [...new Set(wrong)].join(", ");
  $("lobby-note").textContent = wrong.length
    ? `${names} plays heads-up only: choose others for a table of ${items.length + 1}.`
    : `A table of ${items.length + 1}.` + (items.length === 1 ? "" : " The range map is for two players.");
  $("sit").disabled = wrong.length > 0;
}

async function sitDown() {
  const bots = [...$("chosen").querySelectorAll("select")].map((select) => select.value);
  localStorage.setItem("bots", JSON.stringify(bots));
  localStorage.setItem("person", $("person").value);
  $("sit").disabled = true;
  $("lobby-note").textContent = "The bots are getting ready…";
  warn("");
  try {
    const made = await ask("/api/tables", { bots, name: $("person").value });
    location.assign(`/t/${made.table}`);
  } catch (error) {
    warn(error.message);
    $("lobby-note").textContent = "";
    $("sit").disabled = false;
  }
}

// The table

let base = "";

async function openTable(id) {
  base = `/api/t/${id}`;
  study.open = localStorage.getItem("study") === "open";
  showStudy();
  let first;
  try {
    first = await ask(base);
  } catch (error) {
    warn(error.status === 404 ? "This table is no longer there. Take a seat at another one." : error.message);
    history.replaceState(null, "", "/");
    sessionStorage.removeItem("table");
    return openLobby();
  }
  $("table").hidden = false;
  apply(first);
  refreshHands();
  listen();
  document.addEventListener("visibilitychange", listen); // browsers allow few streams: hidden windows have none
  window.addEventListener("pagehide", () => { if (stream) stream.close(); });
  if (first.view === null) send("deal", {});
}

let stream = null;

function listen() {
  if (stream) stream.close();
  stream = null;
  if (document.visibilityState === "hidden") return;
  stream = new EventSource(`${base}/events`);
  stream.onmessage = (event) => apply(JSON.parse(event.data));
  stream.onerror = (event) => {
    if (event.target.readyState === EventSource.CLOSED) warn("The connection to the server is lost. Reload the page.");
  };
}

async function send(what, body) {
  if (busy) return;
  const hadFocus = $("actions").contains(document.activeElement);
  busy = true;
  enable();
  try {
    apply(await ask(`${base}/${what}`, body));
    if ($("alert").dataset.own) { warn(""); delete $("alert").dataset.own; }
  } catch (error) {
    warn(error.status === 409 ? `Not taken: ${error.message}` : error.message);
    $("alert").dataset.own = "1";
    if (error.status === 409) apply(await ask(base));
  } finally {
    busy = false;
    enable();
    if (hadFocus) focusAction();
  }
}

function focusAction() {
  // A button that was pressed is gone or disabled now: the focus stays among the actions.
  const active = document.activeElement;
  if ($("actions").contains(active) && !active.disabled && !active.hidden) return;
  const target = state.between_hands ? $("next") : document.querySelector("#actions [data-action=call]");
  if (!target.disabled) target.focus();
}

function apply(fresh) {
  if (state && fresh.version <= state.version) return;
  const before = state;
  state = fresh;
  const ended = before && before.score.hands !== state.score.hands;
  drawSeats(before);
  drawBoard(before);
  drawStory(before);
  drawScore();
  enable();
  drawStatus();
  if (state.notice) warn(state.notice);
  $("study-live").checked = state.study_live;
  const changed = !before || before.view?.hand !== state.view?.hand || ended;
  if (changed) study.hand = null;
  if (ended) refreshHands();
  refreshStudy();
}

function drawSeats(before) {
  const view = state.view;
  $("others").replaceChildren();
  $("own").replaceChildren();
  if (!view) return;
  $("others").classList.toggle("many", view.chairs.length > 3);
  for (const chair of view.chairs) {
    const own = chair.chair === 0;
    const fresh = !before || before.view?.hand !== view.hand;
    const acting = chair.chair === view.to_act;
    const seat = make(own ? "div" : "li", { class: `seat${acting ? " acting" : ""}${chair.live ? "" : " out"}` });
    const who = make("span", { class: "who" }, make("b", {}, own && chair.name !== "you" ? `${chair.name} (you)` : chair.name));
    if (chair.button) who.prepend(make("span", { class: "dealer", title: "dealer button", role: "img", "aria-label": "dealer" }, "D"));
    const cards = make("span", { class: "cards" });
    const size = own ? "" : "small";
    if (chair.hole) cards.append(...chair.hole.map((card) => playingCard(card, `${size} ${fresh && own ? "fresh" : ""}`)));
    else if (chair.live) cards.append(playingCard(null, `back ${size}`), playingCard(null, `back ${size}`));
    else cards.append(playingCard(null, `none ${size}`), playingCard(null, `none ${size}`));
    const money = make("small", {}, `in ${sb(chair.paid)} · total ${signed(chair.total / state.small_bet)}`);
    const result = chair.net === null ? lastAction(chair.chair) : chair.net > 0 ? `wins ${sb(chair.net)}` : chair.net < 0 ? `loses ${sb(-chair.net)}` : "even";
    seat.append(who, cards, make("span", { class: "last" }, acting && !own ? "thinking…" : result), money);
    $(own ? "own" : "others").append(seat);
  }
}

function lastAction(chair) {
  let text = "";
  for (const event of state.story) {
    if (event.kind === "board") text = text.startsWith("fold") ? text : "";
    if (event.kind === "action" && event.chair === chair) text = event.text.slice((chair === 0 ? "you" : state.names[chair]).length + 1);
  }
  return text;
}

function drawBoard(before) {
  const board = state.view ? state.view.board : [];
  const seen = before && before.view && state.view && before.view.hand === state.view.hand ? before.view.board.length : 0;
  const cards = board.map((card, i) => playingCard(card, i >= seen ? "fresh" : ""));
  for (let i = board.length; i < 5; i++) cards.push(playingCard(null, "none"));
  $("board").replaceChildren(...cards);
  $("board").setAttribute("aria-label", board.length ? `Board: ${board.map(named).join(", ")}` : "Board: no cards yet");
  $("pot-size").textContent = state.view ? sb(state.view.pot) : "0";
}

function drawStory(before) {
  const same = before && before.view && state.view && before.view.hand === state.view.hand;
  if (!same) $("story").replaceChildren();
  const told = new Set([...$("story").children].map((item) => item.dataset.number));
  for (const event of state.story) {
    if (told.has(String(event.number))) continue;
    const kind = event.kind === "board" ? "board" : event.chair === 0 ? "me" : "";
    $("story").append(make("li", { class: kind, "data-number": event.number }, cardText(event.text)));
  }
  if (state.between_hands && !told.has("end")) {
    state.outcome.forEach((line) => $("story").append(make("li", { class: "board", "data-number": "end" }, cardText(line))));
  }
  const last = $("story").lastElementChild; // the latest event in sight, without moving the page
  if (last) $("history").scrollTop = Math.max(0, last.offsetTop + last.offsetHeight - $("history").offsetTop - $("history").clientHeight + 8);
}

function drawStatus() {
  const view = state.view;
  let text = "Ready for the first hand.";
  if (view && state.between_hands) {
    const net = view.chairs[0].net;
    text = net === null ? "The hand is void." : net > 0 ? `You win ${sb(net)}.` : net < 0 ? `You lose ${sb(-net)}.` : "Nobody wins.";
  } else if (view && view.legal.length) {
    text = `Your turn: ${view.to_call ? `${sb(view.to_call)} to call` : "nothing to call"}.`;
  } else if (view) text = `${state.names[view.to_act]} is thinking…`;
  if ($("status").textContent !== text) $("status").textContent = text;
}

function enable() {
  if (!state) return;
  const view = state.view, over = state.between_hands;
  const legal = view && !busy ? view.legal : [];
  for (const button of document.querySelectorAll("#actions [data-action]")) {
    button.hidden = over;
    button.disabled = !legal.includes(button.dataset.action);
  }
  if (view && view.legal.length) {
    const words = document.querySelectorAll("#actions [data-action] span");
    words[1].textContent = view.to_call ? `Call ${sb(view.to_call)}` : "Check";
    const opens = view.street !== "preflop" && !view.to_call;
    words[2].textContent = `${opens ? "Bet" : "Raise"} ${sb(view.to_call + view.bet)}`;
  }
  $("next").hidden = !over;
  $("next").disabled = busy;
}

function drawScore() {
  const score = state.score;
  const parts = [make("b", { class: tone(score.net_sb) }, `${signed(score.net_sb, 1)} sb`), ` in ${score.hands} hand${score.hands === 1 ? "" : "s"}`];
  parts.push(make("br"), make("span", { class: "quiet" }, "without luck "), make("span", { class: tone(score.adjusted_sb) }, `${signed(score.adjusted_sb)} sb`));
  if (score.adjusted_ci95 !== null) {
    parts.push(make("span", { class: "quiet" }, ` (${signed(score.adjusted_sb_per_hand)} ± ${number(score.adjusted_ci95)} a hand)`));
  }
  $("score").replaceChildren(...parts);
  const played = [[0, 0], ...state.points.map((p) => [p[0], p[1]])];
  const adjusted = [[0, 0], ...state.points.map((p) => [p[0], p[2]])];
  const label = `Result after ${score.hands} hands: ${signed(score.net_sb, 1)} small bets, ${signed(score.adjusted_sb)} without the luck of the cards`;
  $("chart").replaceChildren(linePlot([
    { points: played, colour: "var(--played)" }, { points: adjusted, colour: "var(--adjusted)" },
  ], { label, width: 320, height: 150, unit: "hands" }));
}

// Plots: a zero line, a few ticks, lines and bands

function ticks(low, high, n) {
  const raw = (high - low) / n, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
  const found = [];
  for (let t = Math.ceil(low / step - 1e-9) * step; t <= high + 1e-9 * step; t += step) found.push(Math.abs(t) < 1e-12 ? 0 : t);
  return found;
}

function linePlot(lines, { label, width = 320, height = 170, unit = "", min = 1 }) {
  const every = lines.flatMap((line) => [...line.points, ...(line.band || []).flatMap(([x, a, b]) => [[x, a], [x, b]])]);
  const xs = every.map((p) => p[0]), ys = every.map((p) => p[1]);
  const x0 = Math.min(...xs), x1 = Math.max(...xs, x0 + 1);
  let y0 = Math.min(0, ...ys), y1 = Math.max(0, ...ys);
  if (y1 - y0 < min) { y0 -= min / 2; y1 += min / 2; }
  const left = 38, right = 8, top = 8, bottom = 20;
  const px = (x) => left + ((x - x0) / (x1 - x0)) * (width - left - right);
  const py = (y) => top + ((y1 - y) / (y1 - y0)) * (height - top - bottom);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  for (const t of ticks(y0, y1, 4)) {
    svg.append(draw("line", { x1: left, x2: width - right, y1: py(t), y2: py(t), stroke: "var(--line)", "stroke-width": t === 0 ? 2 : 1 }));
    svg.append(draw("text", { x: left - 5, y: py(t) + 4, "text-anchor": "end" }, number(t, 3).replace("-", "−")));
  }
  svg.append(draw("text", { x: width - right, y: height - 5, "text-anchor": "end" }, `${number(x1, 0)} ${unit}`));
  const path = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${px(x).toFixed(1)} ${py(y).toFixed(1)}`).join("");
  for (const line of lines) {
    if (line.band && line.band.length) {
      const outline = [...line.band.map(([x, a]) => [x, a]), ...line.band.map(([x, , b]) => [x, b]).reverse()];
      svg.append(draw("path", { d: `${path(outline)}Z`, fill: line.colour, opacity: .15 }));
    }
    svg.append(draw("path", { d: path(line.points), fill: "none", stroke: line.colour, "stroke-width": 2, "stroke-linejoin": "round" }));
  }
  return svg;
}

// Earlier hands

async function refreshHands() {
  const { hands } = await ask(`${base}/hands`);
  if (!hands.length) return;
  $("hands").replaceChildren(...hands.map((hand) => {
    const own = hand.holes[hand.seat];
    const button = make("button", { type: "button", "aria-pressed": String(study.hand === hand.hand), "data-hand": hand.hand });
    button.append(make("span", { class: "quiet" }, `#${hand.hand + 1}`), make("span", {}, cardText(own.join(" "))),
      make("span", {}, cardText(hand.board.join(" "))), make("span", { class: tone(hand.net_sb) }, signed(hand.net_sb, 1)));
    button.onclick = () => {
      study.hand = hand.hand;
      study.data = null;
      setStudy(true);
    };
    return make("li", {}, button);
  }));
}

// Study

function setStudy(open) {
  study.open = open;
  localStorage.setItem("study", open ? "open" : "closed");
  showStudy();
  refreshStudy();
  if (open) $("study").scrollIntoView({ block: "start" });
}

function showStudy() {
  $("study-body").hidden = !study.open;
  $("study-toggle").setAttribute("aria-expanded", String(study.open));
  $("study-toggle").firstChild.textContent = study.open ? "Hide " : "Show ";
}

async function refreshStudy() {
  for (const button of $("hands").querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(Number(button.dataset.hand) === study.hand));
  }
  if (!study.open || !state) return;
  const asked = ++study.asked;
  const view = state.view;
  const live = view && !state.between_hands && study.hand === null;
  if (!view || (live && !state.study_live) || (study.hand === null && state.notice)) {
    return noFrames(!view ? "Play a hand first." : state.notice ? "The hand is void." : "Off while the hand is live. It opens when the hand is over, or tick the box.");
  }
  const hand = study.hand ?? view.hand;
  if (study.data && study.data.hand === hand && !study.data.live && !live) return;
  let data;
  try {
    data = await ask(`${base}/study/${hand}`);
  } catch (error) {
    if (asked === study.asked) noFrames(error.message);
    return;
  }
  if (asked !== study.asked) return;
  const follows = !study.data || study.data.hand !== hand || study.frame >= study.data.frames.length - 1 || study.data.live !== data.live;
  study.data = data;
  if (follows) study.frame = data.frames.length - 1;
  drawRevealed(data);
  if (!data.frames.length) {
    const why = view.chairs.length > 2 ? "The range map is for tables of two." : `${state.names[1]} does not say what it believes; hardbot does.`;
    return noFrames(why, true);
  }
  $("study-note").textContent = data.live
    ? "Your range for anybody who sees only the board. What depends on the bot’s own cards comes when the hand is over."
    : `Hand ${hand + 1}, as the bot saw it.`;
  $("study-frames").hidden = false;
  drawFrame();
}

function noFrames(why, keep = false) {
  $("study-note").textContent = why;
  $("study-frames").hidden = true;
  if (!keep) study.data = null;
  if (keep && study.data && !study.data.live) {
    const shown = study.data.players.filter((p) => p.chair !== 0).map((p) => `${p.name} had ${p.hole.join(" ")}`);
    $("study-note").replaceChildren(why + " ", cardText(shown.join(", ")));
  }
}

function step(by) {
  if (!study.data || !study.data.frames.length) return;
  study.frame = Math.max(0, Math.min(study.data.frames.length - 1, study.frame + by));
  drawFrame();
}

function drawFrame() {
  const { frames, live } = study.data, frame = frames[study.frame];
  $("step").max = frames.length - 1;
  $("step").value = study.frame;
  $("step").setAttribute("aria-valuetext", frame.text);
  $("step-back").disabled = study.frame === 0;
  $("step-on").disabled = study.frame === frames.length - 1;
  $("step-text").replaceChildren(`${study.frame + 1} of ${frames.length}: `, cardText(frame.text));
  drawMap(frame, study.data.own_class);
  drawBuckets(frame.buckets);
  drawReasons(live ? null : frame);
  drawRivals(live ? [] : frame.rivals || []);
}

function className(row, column) {
  const high = ORDER[Math.min(row, column)], low = ORDER[Math.max(row, column)];
  return row === column ? high + low : high + low + (row < column ? "s" : "o");
}

function drawMap(frame, mark) {
  const body = $("map").tBodies[0];
  if (!body.rows.length) {
    for (let row = 0; row < 13; row++) {
      const line = body.insertRow();
      for (let column = 0; column < 13; column++) line.insertCell().textContent = className(row, column);
    }
  }
  if (!frame.heat) return;
  const all = frame.heat.flat();
  for (let cell = 0; cell < 169; cell++) {
    const td = body.rows[Math.floor(cell / 13)].cells[cell % 13], level = (all[cell] / 1000) ** .6;
    td.style.setProperty("--v", `${Math.round(100 * level)}%`);
    td.classList.toggle("hot", level > .5);
    td.classList.toggle("mark", cell === mark);
    const name = className(Math.floor(cell / 13), cell % 13);
    td.title = `${name}: ${number(all[cell] / 10, 1)}% of the likeliest`;
    td.setAttribute("aria-label", `${name} ${Math.round(all[cell] / 10)}${cell === mark ? ", your hand" : ""}`);
  }
  const rank = all.map((v, cell) => [v, cell]).sort((a, b) => b[0] - a[0]);
  const top = rank.slice(0, 6).map(([, cell]) => className(Math.floor(cell / 13), cell % 13)).join(", ");
  let note = `Likeliest: ${top}.`;
  if (mark !== undefined) {
    const place = 1 + rank.filter(([v]) => v > all[mark]).length;
    note += ` Your hand is ${className(Math.floor(mark / 13), mark % 13)}: place ${place} of 169.`;
  }
  $("map-note").textContent = note;
}

function drawBuckets(buckets) {
  const size = Math.ceil(buckets.length / 40), groups = Math.ceil(buckets.length / size);
  const sums = Array.from({ length: groups }, (_, i) =>
    buckets.slice(i * size, (i + 1) * size).reduce((sum, [, p]) => sum + p, 0));
  const top = Math.max(...sums, 1e-9), width = 400, height = 90;
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height + 14}`, role: "img", class: "bars",
    "aria-label": `Probability by strength, weakest first; the largest bar is ${number(100 * top, 1)} percent` });
  sums.forEach((p, i) => {
    const h = (p / top) * height, w = width / groups;
    const bar = draw("rect", { x: (i * w + .5).toFixed(2), y: (height - h).toFixed(2), width: (w - 1).toFixed(2), height: h.toFixed(2), rx: 1 });
    bar.append(draw("title", {}, `${number(100 * p, 1)}%`));
    svg.append(bar);
  });
  svg.append(draw("line", { x1: 0, x2: width, y1: height, y2: height, stroke: "var(--line)" }));
  svg.append(draw("text", { x: 0, y: height + 12 }, "weak"), draw("text", { x: width, y: height + 12, "text-anchor": "end" }, "strong"));
  $("buckets").replaceChildren(svg);
}

const FIGURES = [
  ["hs", "HS", "ahead now"], ["ppot", "PPot", "gets ahead"], ["npot", "NPot", "falls behind"], ["ehs", "EHS", "ahead or gets there"],
  ["p_win", "P(win)", "at showdown"], ["p_win_called", "P(win) if called"], ["p_fold", "P(you fold)"], ["p_reraise", "P(you raise)"],
  ["p_bet_if_checked", "P(you bet if checked to)"], ["pot_odds", "Pot odds"], ["showdown_odds", "Showdown odds"],
];

function drawReasons(frame) {
  const there = frame !== null && (frame.triple !== null || Object.keys(frame.figures).length > 0);
  $("reasons").hidden = !there;
  if (!there) return;
  const names = ["fold", "call", "raise"], width = 400;
  const triple = frame.triple || [0, 0, 0];
  const svg = draw("svg", { viewBox: `0 0 ${width} 26`, role: "img",
    "aria-label": names.map((name, i) => `${name} ${Math.round(100 * triple[i])} percent`).join(", ") });
  let x = 0;
  triple.forEach((p, i) => {
    svg.append(draw("rect", { x, y: 0, width: p * width, height: 26, fill: `var(--${names[i]})` }));
    if (p > .16) svg.append(draw("text", { x: x + 7, y: 18 }, `${names[i]} ${Math.round(100 * p)}%`));
    x += p * width;
  });
  $("triple").replaceChildren(svg);
  $("rule").replaceChildren(make("span", { class: "quiet" }, "rule: "), frame.rule || "none");
  const rows = [];
  for (const [key, name, hint] of FIGURES) {
    const value = frame.figures[key];
    if (value === undefined) continue;
    const bar = make("span");
    bar.style.width = `${Math.max(0, Math.min(100, 100 * value))}%`;
    rows.push(make("dt", { title: hint }, name), make("div", { class: "meter", "aria-hidden": "true" }, bar), make("dd", {}, value.toFixed(3)));
  }
  $("figures").replaceChildren(...rows);
}

function drawRivals(rivals) {
  $("rivals-part").hidden = !rivals.length;
  $("rivals").replaceChildren(...rivals.filter(([, p]) => p >= .005).slice(0, 5).map(([name, p, worth]) => {
    const bar = make("span");
    bar.style.width = `${100 * p}%`;
    return make("li", {}, make("div", { class: "meter", "aria-hidden": "true" }, bar), `${name} ${Math.round(100 * p)}%`,
      make("span", { class: "quiet" }, `its answer is worth ${signed(worth)} sb a hand`));
  }));
}

function drawRevealed(data) {
  $("revealed-part").hidden = data.live;
  if (data.live) return;
  $("revealed").replaceChildren(...data.players.map((player) => make("li", {},
    make("span", { class: "cards" }, ...player.hole.map((card) => playingCard(card, "small"))),
    make("b", {}, player.name), make("span", { class: tone(player.net_sb) }, `${signed(player.net_sb, 1)} sb`),
    make("span", { class: "quiet" }, player.shown || player.chair === 0 ? "" : "not shown"))));
}

// Keys

function onKey(event) {
  if (!state || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName) && event.target.type !== "checkbox") return;
  const press = (button) => { if (!button.hidden && !button.disabled) { button.click(); event.preventDefault(); } };
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const actions = { f: "fold", c: "call", k: "call", r: "raise", b: "raise" };
  if (actions[key]) press(document.querySelector(`#actions [data-action=${actions[key]}]`));
  else if (key === "n") press($("next"));
  else if (key === "s") setStudy(!study.open);
  else if (key === "ArrowLeft") step(-1);
  else if (key === "ArrowRight") step(1);
}

function wire() {
  $("lobby-form").onsubmit = (event) => {
    event.preventDefault();
    sitDown();
  };
  for (const button of document.querySelectorAll("#actions [data-action]")) {
    button.onclick = () => send("act", { action: button.dataset.action, hand: state.view.hand, betting: state.view.betting });
  }
  $("next").onclick = () => send("deal", {});
  $("study-toggle").onclick = () => setStudy(!study.open);
  $("study-live").onchange = (event) => send("settings", { study_live: event.target.checked });
  $("step").oninput = (event) => { study.frame = Number(event.target.value); drawFrame(); };
  $("step-back").onclick = () => step(-1);
  $("step-on").onclick = () => step(1);
  document.addEventListener("keydown", onKey);
}

// Results

async function openResults() {
  document.title = "HardBot – results";
  $("results").hidden = false;
  const { results } = await ask("/api/results");
  if (!results.length) {
    $("result-choice").parentElement.hidden = true;
    $("result-page").replaceChildren(make("p", { class: "card-box" }, "Nothing is published yet. ", make("code", {}, "hardbot gauntlet --store FILE"), " publishes its results here."));
    return;
  }
  for (const line of results) {
    const name = line.error ? `${line.name} (unreadable)` : `${line.kind}${line.hero && line.kind === "gauntlet" ? ` of ${line.hero}` : ""}${line.unseen ? ", unseen" : ""}, ${line.played_at.slice(0, 16).replace("T", " ")}, ${line.matches} matches`;
    $("result-choice").append(make("option", { value: line.name }, name));
  }
  const show = async () => {
    try {
      drawResult(await ask(`/api/results/${encodeURIComponent($("result-choice").value)}`));
    } catch (error) {
      $("result-page").replaceChildren(make("p", { class: "card-box bad" }, error.message));
    }
  };
  $("result-choice").onchange = show;
  await show();
}

function sheet(head, rows) {
  const table = make("table");
  const line = (cells, tag) => make("tr", {}, ...cells.map((cell, i) => {
    const element = make(i === 0 && tag === "td" ? "th" : tag, tag === "th" ? { scope: "col" } : i === 0 ? { scope: "row" } : {});
    element.append(cell instanceof Node ? cell : String(cell));
    return element;
  }));
  table.append(make("thead", {}, line(head, "th")), make("tbody", {}, ...rows.map((row) => line(row, "td"))));
  return make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Table" }, table);
}

const dash = (value, show) => (value === null || value === undefined ? "–" : show(value));
const box = (title, ...parts) => make("section", { class: "card-box" }, make("h2", {}, title), ...parts);
const thousands = (value) => Number(value).toLocaleString("en");

function drawResult(data) {
  const facts = [data.played_at?.slice(0, 16).replace("T", " "), data.commit ? `commit ${data.commit}` : "", `seed ${data.seed}`,
    data.unseen ? "models without the opponent’s hands" : ""].filter(Boolean).join(" · ");
  const cross = data.kind === "crosstable";
  const name = (row) => (cross ? `${row.hero} – ${row.opponent}` : row.opponent);
  const rows = data.rows.map((row) => [name(row), thousands(row.hands), dash(row.sb_per_hand, (v) => signed(v, 3)), dash(row.ci95, (v) => `± ${v.toFixed(3)}`),
    make("span", { class: row.verdict }, row.verdict), row.interval, dash(row.decision_ms, (ms) => ms.map((v) => v.toFixed(2)).join(" / "))]);
  const head = [cross ? "match" : "opponent", "hands", "sb/hand", "95%", "verdict", "interval over", "ms a decision"];
  const parts = [box(cross ? "Cross-table" : `Gauntlet of ${data.rows[0]?.hero ?? ""}`, make("p", { class: "quiet" }, facts),
    ...(cross ? [matrix(data.rows)] : []), forest(data.rows, name), sheet(head, rows))];
  const styles = Object.entries(data.styles || {});
  if (styles.length) {
    const percent = (v) => `${(100 * v).toFixed(1)}%`;
    parts.push(box("Styles", sheet(["", "voluntary entry", "preflop raise", "aggression", "went to showdown", "won at showdown"],
      styles.map(([bot, s]) => [bot, dash(s.voluntary_entry, percent), dash(s.preflop_raise, percent), dash(s.aggression, (v) => v.toFixed(2)), dash(s.went_to_showdown, percent), dash(s.won_at_showdown, percent)]))));
  }
  const curves = data.curves || [];
  const won = curves.filter((curve) => curve.cumulative?.length).map((curve) => {
    const at = (key) => [[0, 0], ...curve.cumulative.map((p) => [p.hands, p[key]])];
    const band = curve.cumulative.filter((p) => p.band_sb !== null).map((p) => [p.hands, p.sb - p.band_sb, p.sb + p.band_sb]);
    const title = cross ? `${curve.hero} – ${curve.opponent}` : curve.opponent;
    return make("figure", {}, make("figcaption", {}, title),
      linePlot([{ points: at("sb"), band, colour: "var(--played)" }], { label: `Cumulative winnings, ${title}`, unit: "hands" }));
  });
  if (won.length) parts.push(box("Cumulative winnings", make("p", { class: "quiet" }, "sb, luck of the board taken off; band: 95% sampling error of the sum."), make("div", { class: "plots" }, ...won)));
  const learned = curves.filter((curve) => curve.learns && curve.learning?.length).map((curve) => {
    const band = curve.learning.filter((p) => p.ci95 !== null).map((p) => [p.hand, p.sb_per_hand - p.ci95, p.sb_per_hand + p.ci95]);
    const title = cross ? `${curve.hero} – ${curve.opponent}` : curve.opponent;
    return make("figure", {}, make("figcaption", {}, title), linePlot([{ points: curve.learning.map((p) => [p.hand, p.sb_per_hand]), band, colour: "var(--adjusted)" }],
      { label: `Learning curve, ${title}`, unit: "deals", min: .1 }));
  });
  if (learned.length) parts.push(box("Learning curves", make("p", { class: "quiet" }, "sb a hand by position within a block; memories start empty with each."), make("div", { class: "plots" }, ...learned)));
  $("result-page").replaceChildren(...parts);
}

function matrix(rows) {
  const bots = [...new Set(rows.flatMap((row) => [row.hero, row.opponent]))];
  const value = (a, b) => {
    for (const row of rows) {
      if (row.hero === a && row.opponent === b) return row.sb_per_hand;
      if (row.hero === b && row.opponent === a) return row.sb_per_hand === null ? null : -row.sb_per_hand;
    }
    return null;
  };
  return sheet(["", ...bots], bots.map((a) => [a, ...bots.map((b) => a === b ? "" : dash(value(a, b), (v) => make("span", { class: tone(v) }, signed(v, 3))))]));
}

function forest(rows, name) {
  const known = rows.filter((row) => row.sb_per_hand !== null);
  if (!known.length) return make("p");
  const ends = known.flatMap((row) => [row.sb_per_hand - (row.ci95 || 0), row.sb_per_hand + (row.ci95 || 0)]);
  const low = Math.min(0, ...ends), high = Math.max(0, ...ends), width = 640, left = 170, line = 26;
  const span = high - low || 1, height = known.length * line + 26;
  const px = (v) => left + ((v - low) / span) * (width - left - 20);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "sb a hand with 95% intervals; the table below has the numbers" });
  for (const t of ticks(low, high, 5)) {
    svg.append(draw("line", { x1: px(t), x2: px(t), y1: 4, y2: height - 18, stroke: "var(--line)", "stroke-width": t === 0 ? 2 : 1 }));
    svg.append(draw("text", { x: px(t), y: height - 4, "text-anchor": "middle" }, signed(t, 3)));
  }
  known.forEach((row, i) => {
    const y = 18 + i * line, colour = row.verdict === "won" ? "var(--good)" : row.verdict === "lost" ? "var(--bad)" : "var(--quiet)";
    svg.append(draw("text", { x: left - 10, y: y + 4, "text-anchor": "end" }, name(row)));
    if (row.ci95 !== null) svg.append(draw("line", { x1: px(row.sb_per_hand - row.ci95), x2: px(row.sb_per_hand + row.ci95), y1: y, y2: y, stroke: colour, "stroke-width": 3 }));
    svg.append(draw("circle", { cx: px(row.sb_per_hand), cy: y, r: 5, fill: colour }));
  });
  const holder = make("div");
  holder.style.maxWidth = "44rem";
  holder.append(svg);
  return holder;
}

// Models

async function openModels() {
  document.title = "HardBot – models";
  $("models").hidden = false;
  const { models } = await ask("/api/models");
  $("model-page").replaceChildren(...(models.length ? models.map(drawModel) : [make("p", { class: "card-box" }, "No model yet: ", make("code", {}, "hardbot train"))]));
}

function drawModel(model) {
  const title = make("h2", {}, model.name);
  if (model.in_use) title.append(make("span", { class: "tag" }, "in use"));
  if (model.promoted && !model.in_use) title.append(make("span", { class: "tag" }, "promoted"));
  const part = make("section", { class: "card-box" }, title);
  if (model.error) {
    part.append(make("p", { class: "bad" }, model.error));
    return part;
  }
  const facts = { origin: model.origin, model: model.model_id, hands: dash(model.n_hands, thousands), decisions: dash(model.decisions_known, thousands),
    buckets: dash(model.k, (k) => k.join(" / ")), widths: dash(model.widths, (w) => w.join(" / ")), "held-out nats": dash(model.held_out_nats, (v) => v.toFixed(4)) };
  part.append(make("dl", { class: "facts" }, ...Object.entries(facts).map(([key, value]) => make("div", {}, make("dt", {}, key), make("dd", {}, String(value ?? "–"))))));
  const streets = ["preflop", "flop", "turn", "river", "overall"];
  const nats = model.scores?.action_nats || model.scores?.public_nats;
  if (nats) {
    part.append(make("h3", {}, "Nats an action on held-out hands (smaller is better)"), sheet(["", ...streets], ["uniform", "context", "model"].map((kind) =>
      [kind === "context" ? "betting only" : kind, ...streets.map((street) => dash(nats[street]?.[kind], (v) => v.toFixed(3)))])));
  }
  const bits = model.scores?.range_bits;
  if (bits) {
    const kinds = [...new Set(Object.values(bits).flatMap((row) => Object.keys(row)))].filter((kind) => kind !== "n");
    part.append(make("h3", {}, "Bits gained on the true hand (larger is better)"), sheet(["", ...streets], kinds.map((kind) =>
      [kind.replace("_", ", "), ...streets.map((street) => dash(bits[street]?.[kind], (v) => signed(v, 3)))])));
  }
  const calibration = model.scores?.calibration;
  if (calibration?.observed?.length) {
    const n = calibration.observed.length;
    const sums = (values) => values.reduce((all, v) => [...all, all[all.length - 1] + v], [0]).map((v, i) => [i / n, v]);
    const holder = make("div");
    holder.style.maxWidth = "20rem";
    holder.append(linePlot([{ points: [[0, 0], [1, 1]], colour: "var(--line)" }, { points: sums(calibration.observed), colour: "var(--played)" }],
      { label: "Calibration: share of true hands below each quantile of the range; the straight line is perfect", height: 200 }));
    part.append(make("h3", {}, "Calibration ", make("span", { class: "quiet" }, "true hands below each quantile of the range")), holder);
  }
  return part;
}

// Start

function start() {
  const path = location.pathname, seat = path.match(/^\/t\/([0-9a-f]+)$/);
  const here = path === "/results" ? "results" : path === "/models" ? "models" : "table";
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.page === here) link.setAttribute("aria-current", "page");
  }
  wire();
  if (seat) sessionStorage.setItem("table", path);
  const last = sessionStorage.getItem("table");
  if (last && (seat || here !== "table")) document.querySelector('nav a[data-page="table"]').href = last;
  if (seat) {
    document.title = "HardBot – table";
    return openTable(seat[1]);
  }
  return { results: openResults, models: openModels, table: openLobby }[here]();
}

start().catch((error) => warn(error.message));
