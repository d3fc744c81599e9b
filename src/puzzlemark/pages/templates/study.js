"use strict";
// Asks, keeps every answer at once, goes on after a reload, and writes the file of answers.
// Snippets are a stranger's text: they reach the page as text nodes only.
(() => {
  const study = JSON.parse(document.getElementById("study").textContent);
  const at = (id) => document.getElementById(id);
  const collector = document.querySelector('meta[name="collect"]').content;
  const first = study.rounds[0].number;
  const place = `study:${study.study}:${study.participant}:${first}`;
  const PAUSE = 250; // milliseconds in which a second tap is not meant for the next snippet
  const texts = study.texts;
  let state = fresh();
  let shownAt = null; // when the snippet came into sight
  let since = 0;

  function fresh() {
    const stage = texts.consent ? "consent" : "intro";
    return { stage, round: 0, spot: 0, answers: study.rounds.map(() => ({})), times: study.rounds.map(() => ({})) };
  }

  // what is kept

  function load() {
    let text = null;
    try { text = localStorage.getItem(place); } catch { return; }
    if (text === null) return;
    try {
      const found = JSON.parse(text);
      const fits = found.answers.length === study.rounds.length && found.times.length === study.rounds.length;
      const known = found.answers.every((each) => Object.keys(each).every((id) => id in study.snippets));
      if (!fits || !known || !(found.round in study.rounds) || !at(found.stage)) throw new Error("not ours");
      state = found;
    } catch {
      // nothing is thrown away: it is kept beside, for somebody who can read it
      try { localStorage.setItem(`${place}:unreadable`, text); } catch { /* told by keep() */ }
    }
  }

  function keep() {
    const text = JSON.stringify(state);
    try {
      // a page that knows of no answer tries the storage only: after a hasty reload, answers may
      // still be on their way there, and must not be written over
      if (text !== JSON.stringify(fresh())) localStorage.setItem(place, text);
      else { localStorage.setItem(`${place}:tried`, ""); localStorage.removeItem(`${place}:tried`); }
    } catch {
      const told = at("trouble");
      told.textContent = "This browser does not keep your answers. Please finish without closing or reloading the page, or open it in another browser.";
      told.hidden = false;
      window.onbeforeunload = () => "Your answers are not saved.";
    }
  }

  // time in sight

  function watch() { shownAt = document.visibilityState === "visible" ? performance.now() : null; }

  function stopWatch() {
    if (shownAt === null || state.stage !== "judge") { shownAt = null; return; }
    const times = state.times[state.round];
    const id = current();
    times[id] = Math.round((times[id] || 0) + performance.now() - shownAt);
    shownAt = null;
  }

  document.addEventListener("visibilitychange", () => {
    if (state.stage !== "judge") return;
    if (document.visibilityState === "visible") { watch(); return; }
    stopWatch();
    keep();
  });
  window.addEventListener("pagehide", () => { stopWatch(); keep(); });
  // the same page in a second window: follow it, so that neither undoes the other's answers
  window.addEventListener("storage", (event) => {
    if (event.key !== place || event.newValue === null) return;
    shownAt = null;
    load();
    show();
  });

  // what is shown

  const round = () => study.rounds[state.round];
  const current = () => round().order[state.spot];
  const answered = () => round().order.filter((id) => id in state.answers[state.round]).length;
  const named = () => (study.of > 1 ? `Round ${round().number} of ${study.of}` : "The task");

  function show(said) {
    for (const stage of ["consent", "intro", "judge", "end", "done"]) at(stage).hidden = stage !== state.stage;
    document.body.classList.toggle("judging", state.stage === "judge");
    at("walked").hidden = !["judge", "end"].includes(state.stage);
    at("copy").hidden = !state.answers.some((each) => Object.keys(each).length) || state.stage === "done";
    at("status").textContent = said || "";
    ({ consent: showConsent, intro: showIntro, judge: showSnippet, end: showEnd, done: showDone })[state.stage]();
    if (state.stage === "judge" || state.stage === "end") showProgress();
    document.querySelector(`#${state.stage} h1`).focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }

  function showConsent() { at("consent-text").replaceChildren(...texts.consent.map(block)); }

  function showIntro() {
    at("intro-title").textContent = named();
    at("intro-text").replaceChildren(...round().intro.map(block));
    at("start").textContent = study.of > 1 ? `Start round ${round().number}` : "Start";
  }

  function showProgress() {
    const all = round().order.length;
    at("progress").max = all;
    at("progress").value = answered();
    at("count").textContent = `${answered()} of ${all} answered`;
  }

  function showSnippet() {
    const id = current();
    const start = study.of > 1 ? `Round ${round().number}, function` : "Function";
    at("where").textContent = `${start} ${state.spot + 1} of ${round().order.length}`;
    at("code").replaceChildren(...lines(study.snippets[id]));
    const given = state.answers[state.round][id];
    at("yes").setAttribute("aria-pressed", String(given === true));
    at("no").setAttribute("aria-pressed", String(given === false));
    at("back").disabled = state.spot === 0;
    at("next").disabled = given === undefined;
    since = performance.now();
    watch();
  }

  function showEnd() {
    at("end-title").textContent = study.of > 1 ? `All functions of round ${round().number} are answered` : "All functions are answered";
    const more = state.round + 1 < study.rounds.length;
    at("end-text").textContent = `You can still go back and change answers. Once you finish, the answers${study.of > 1 ? " of this round" : ""} are closed.`;
    at("finish").textContent = study.of > 1 ? (more ? `Finish round ${round().number} and go on` : `Finish round ${round().number}`) : "Finish";
  }

  function showDone() {
    const later = round().number < study.of;
    const next = [["p", [["", `That was round ${round().number} of ${study.of}. Please hand in your answers now; you get another page for the next round.`]]]];
    at("done-text").replaceChildren(...(later ? next : texts.thanks).map(block));
    at("send").hidden = !collector;
    at("save").className = collector ? "plain" : "primary";
    at("where-to").hidden = Boolean(collector);
  }

  function block([kind, content]) {
    const node = document.createElement(kind);
    if (kind === "ul") node.append(...content.map((item) => { const li = document.createElement("li"); li.append(...item.map(inline)); return li; }));
    else node.append(...content.map(inline));
    return node;
  }

  function inline([kind, text]) {
    if (!kind) return document.createTextNode(text);
    const node = document.createElement("code");
    node.textContent = text;
    return node;
  }

  function lines(pieces) {
    const found = [document.createElement("code")];
    for (const [kind, text] of pieces) {
      text.split("\n").forEach((part, nth) => {
        if (nth) found.push(document.createElement("code"));
        if (!part) return;
        const node = document.createElement("span");
        if (kind) node.className = kind;
        node.textContent = part;
        found[found.length - 1].append(node);
      });
    }
    while (found.length > 1 && !found[found.length - 1].textContent.trim()) found.pop();
    return found.map((code) => {
      const blanks = code.textContent.match(/^[ \t]*/)[0].replaceAll("\t", "    ").length;
      code.style.setProperty("--hang", `${Math.min(blanks, 16) + 2}ch`); // where a wrapped line goes on
      const line = document.createElement("div");
      line.className = "line";
      line.append(code);
      return line;
    });
  }

  // what a participant does

  function go(stage, said) {
    stopWatch();
    state.stage = stage;
    keep();
    show(said);
  }

  function answer(isSuspicious) {
    if (state.stage !== "judge" || performance.now() - since < PAUSE) return;
    stopWatch();
    state.answers[state.round][current()] = isSuspicious;
    const said = `Kept: ${isSuspicious ? texts.suspicious : texts.ordinary}.`;
    forward(said);
  }

  // to the next one; behind the last, to the first without an answer, or to the end
  function forward(said) {
    if (state.answers[state.round][current()] === undefined) return;
    stopWatch();
    const order = round().order;
    if (state.spot + 1 < order.length) state.spot += 1;
    else {
      const open = order.findIndex((id) => !(id in state.answers[state.round]));
      if (open < 0) { go("end", said); return; }
      state.spot = open;
    }
    go("judge", said);
  }

  function back() {
    if (state.spot === 0) return;
    stopWatch();
    state.spot -= 1;
    go("judge");
  }

  function finish() {
    if (answered() < round().order.length) { go("judge"); return; }
    if (state.round + 1 < study.rounds.length) {
      state.round += 1;
      state.spot = 0;
      go("intro");
      send(true);
    } else {
      go("done");
      send(false);
    }
  }

  // the file of answers

  function exported() {
    const rounds = study.rounds.map((each, nth) => ({
      round: each.number,
      answers: each.order.filter((id) => id in state.answers[nth]).map((id) => ({
        snippet: id, suspicious: state.answers[nth][id], milliseconds: state.times[nth][id] || 0 })),
    })).filter((each) => each.answers.length);
    const told = rounds.flatMap((each) => each.answers.map((a) => `${each.round} ${a.snippet} ${a.suspicious ? 1 : 0} ${a.milliseconds}\n`));
    const seal = sha256(`${study.token}\n${study.study}\n${study.participant}\n${told.join("")}`);
    const { format, version, participant } = study;
    return JSON.stringify({ format, version, study: study.study, participant, rounds, seal }, null, 1) + "\n";
  }

  function save() {
    stopWatch();
    const url = URL.createObjectURL(new Blob([exported()], { type: "application/json" }));
    const link = document.createElement("a");
    const part = study.rounds.length < study.of ? `-round-${first}` : "";
    link.href = url;
    link.download = `answers-${study.participant}${part}-${study.study}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
    at("status").textContent = "Your answers were saved as a file.";
    if (state.stage === "judge") watch();
  }

  async function send(quietly) {
    if (!collector) return;
    let problem = null;
    try {
      const reply = await fetch(collector, { method: "POST", headers: { "Content-Type": "application/json" }, body: exported() });
      if (!reply.ok) problem = await reply.text();
    } catch { problem = "the machine that collects answers does not reply"; }
    if (quietly) return;
    const told = at("handed");
    told.hidden = false;
    told.className = problem ? "handed bad" : "handed";
    told.textContent = problem ? `Your answers could not be sent: ${problem}. Please try again, or save them as a file.` : "Your answers were received. Thank you. You can close this page.";
    at("send").textContent = problem ? "Try again" : "Send my answers again";
    at("send").className = problem ? "primary" : "plain";
  }

  // SHA-256 (FIPS 180-4), by hand: a browser's own is not there on pages without https
  function sha256(text) {
    const bytes = new TextEncoder().encode(text);
    const root = (x, power) => Math.floor((x ** power % 1) * 2 ** 32);
    const primes = [];
    for (let n = 2; primes.length < 64; n += 1) if (primes.every((p) => n % p)) primes.push(n);
    const k = primes.map((p) => root(p, 1 / 3));
    const h = primes.slice(0, 8).map((p) => root(p, 1 / 2));
    const data = new DataView(new ArrayBuffer(((bytes.length + 72) >> 6) << 6));
    bytes.forEach((byte, n) => data.setUint8(n, byte));
    data.setUint8(bytes.length, 0x80);
    data.setUint32(data.byteLength - 8, Math.floor(bytes.length / 2 ** 29));
    data.setUint32(data.byteLength - 4, bytes.length * 8);
    const turn = (x, n) => (x >>> n) | (x << (32 - n));
    for (let from = 0; from < data.byteLength; from += 64) {
      const w = Array.from({ length: 16 }, (_, n) => data.getUint32(from + 4 * n));
      for (let n = 16; n < 64; n += 1) {
        const s0 = turn(w[n - 15], 7) ^ turn(w[n - 15], 18) ^ (w[n - 15] >>> 3);
        const s1 = turn(w[n - 2], 17) ^ turn(w[n - 2], 19) ^ (w[n - 2] >>> 10);
        w[n] = (w[n - 16] + s0 + w[n - 7] + s1) | 0;
      }
      let [a, b, c, d, e, f, g, last] = h;
      for (let n = 0; n < 64; n += 1) {
        const one = (last + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + k[n] + w[n]) | 0;
        const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        [last, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
      }
      [a, b, c, d, e, f, g, last].forEach((x, n) => { h[n] = (h[n] + x) | 0; });
    }
    return h.map((x) => (x >>> 0).toString(16).padStart(8, "0")).join("");
  }

  // buttons and keys

  at("agree").addEventListener("change", () => { at("begin").disabled = !at("agree").checked; });
  at("begin").addEventListener("click", () => go("intro"));
  at("start").addEventListener("click", () => { state.spot = 0; go("judge"); });
  at("yes").addEventListener("click", () => answer(true));
  at("no").addEventListener("click", () => answer(false));
  at("back").addEventListener("click", back);
  at("next").addEventListener("click", () => forward());
  at("finish").addEventListener("click", finish);
  at("again").addEventListener("click", () => { state.spot = 0; go("judge"); });
  at("save").addEventListener("click", save);
  at("copy").addEventListener("click", save);
  at("send").addEventListener("click", () => send(false));

  const keys = {
    judge: { s: () => answer(true), n: () => answer(false), arrowleft: back, arrowright: () => forward() },
    intro: { enter: () => at("start").click() },
    end: { enter: () => at("finish").click(), arrowleft: () => { state.spot = round().order.length - 1; go("judge"); } },
  };
  document.addEventListener("keydown", (event) => {
    const onControl = event.target.closest && event.target.closest("button, input, summary");
    // a key that is held down must not answer what was not read
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" ? onControl : !at("shortcuts").checked) return;
    const act = (keys[state.stage] || {})[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act();
  });

  if (collector) at("place").textContent = "Your answers are kept in this browser, and sent to the machine that this page came from when you finish a round.";
  load();
  keep();
  show();
})();
