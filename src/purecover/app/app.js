// The page on which one drops a file. Everything a user or a file says is set as text, never as HTML.
"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const limits = document.body.dataset;
  const roles = ["score", "labeled", "truth", "sample_weight", "groups"];
  const optional = new Set(["truth", "sample_weight", "groups"]);
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  let file = null;    // what the server said about the file
  let chosenName = ""; // of the file that was sent last; messages may begin with it
  let sending = 0;    // counts files, so that the answer about an earlier one is known for it
  let running = null; // the report that is being made
  let attempt = 0;    // counts reports and cancelations, so that late answers are known for it

  // The secret lives in storage of this port alone, which no other server of this machine sees, and
  // travels as a header, which the browser sends to nobody by itself.
  let token = new URLSearchParams(location.hash.slice(1)).get("token");
  history.replaceState(null, "", location.pathname); // the token would stay in the history
  try {
    if (token) localStorage.setItem("token", token);
    else token = localStorage.getItem("token");
  } catch { /* no storage */ }

  async function ask(method, path, body, type) {
    const headers = { ...(type && { "Content-Type": type }), ...(token && { Authorization: `Bearer ${token}` }) };
    let answer;
    try {
      answer = await fetch(path, { method, body, headers });
    } catch {
      throw new Error("The server does not answer. Was it stopped, or the file changed meanwhile?");
    }
    if (answer.status === 204) return null;
    const content = await answer.json().catch(() => ({ error: `The server answered ${answer.status}.` }));
    if (!answer.ok) throw Object.assign(new Error(sentence(content.error)), { status: answer.status });
    return content;
  }

  function sentence(text) {
    const begins = (name) => name && text.startsWith(name); // names keep their letters
    return [chosenName, "purecover"].some(begins) ? text : text.charAt(0).toUpperCase() + text.slice(1);
  }

  function complain(id, message) {
    const place = at(id);
    place.textContent = message;
    place.hidden = !message;
  }

  function make(tag, properties = {}, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  }

  const size = (bytes) =>
    bytes < 1e5 ? `${bytes.toLocaleString("en")} bytes` : `${(bytes / 1e6).toLocaleString("en", { maximumFractionDigits: 1 })} MB`;

  const maxUpload = size(Number(limits.maxUpload));
  at("max-upload").textContent = maxUpload;

  async function take(promise, name) {
    complain("file-problem", "");
    complain("job-problem", "");
    at("job-status").textContent = "";
    at("form").hidden = true;
    chosenName = name;
    at("file-status").textContent = `Reading ${name} …`;
    const mine = ++sending;
    try {
      const found = await promise();
      if (mine !== sending) {
        ask("DELETE", `/api/files/${found.file}`).catch(() => {});
        return;
      }
      const old = file;
      file = found;
      chosenName = file.name;
      endJudging();
      if (old) ask("DELETE", `/api/files/${old.file}`).catch(() => {});
      at("file-status").textContent = `${file.name}: ${file.columns.length} columns, ${size(file.size)}.`;
      show();
    } catch (error) {
      if (mine !== sending) return;
      at("file-status").textContent = "";
      complain("file-problem", error.message);
    }
  }

  function send(chosen) {
    if (!chosen) return;
    if (chosen.size > Number(limits.maxUpload)) {
      sending += 1;
      at("form").hidden = true;
      at("file-status").textContent = "";
      complain("file-problem",
        `${chosen.name} has ${size(chosen.size)}; the limit is ${maxUpload}.\n` +
        "Hint: purecover app --max-upload raises it; a Parquet file is smaller than a CSV file.");
      return;
    }
    take(() => upload(chosen), chosen.name);
  }

  const upload = (chosen) =>
    ask("POST", `/api/files?name=${encodeURIComponent(chosen.name.slice(-255))}`, chosen, "application/octet-stream");

  function show() {
    const names = file.columns.map((column) => column.name);
    for (const role of roles) {
      const choice = at(role);
      choice.replaceChildren();
      if (optional.has(role)) choice.append(make("option", { value: "", textContent: "none" }));
      else choice.append(make("option", { value: "", textContent: "choose a column" }));
      names.forEach((name, i) => choice.append(make("option", { value: String(i), textContent: shorten(name) })));
      const guessed = names.indexOf(file.guess[role]);
      choice.value = guessed >= 0 ? String(guessed) : "";
      choice.removeAttribute("aria-invalid");
    }
    preview();
    values();
    compare();
    at("form").hidden = false;
  }

  const shorten = (name) => (name.length > 80 ? `${name.slice(0, 79)}…` : name || "(no name)");

  function preview() {
    const width = file.rows.length ? file.rows[0].length : Math.min(file.columns.length, 50);
    const head = file.columns.slice(0, width).map((column) =>
      make("th", { scope: "col", textContent: shorten(column.name), title: column.name.slice(0, 1000),
        className: column.numbers ? "number" : "" }));
    const rows = file.rows.map((row) => make("tr", {}, ...row.map((cell, i) =>
      make("td", { textContent: cell, className: file.columns[i].numbers ? "number" : "" }))));
    at("preview").replaceChildren(make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
  }

  // How many rows carry each value of the column of labels; blank ones are offered as unlabeled.
  function values() {
    const column = file.columns[Number(at("labeled").value)];
    const found = at("labeled").value === "" ? [] : Object.entries(column.values);
    const count = (rows) => rows.toLocaleString("en");
    const words = found.map(([value, rows]) => `${count(rows)} ${value === "" ? "blank" : `“${value}”`}`);
    const usual = "Which rows carry the label: 1/0, true/false, positive/unlabeled.";
    at("labeled-values").textContent = words.length ? `Rows: ${words.join(", ")}.` : usual;
    const blank = found.find(([value]) => value === "");
    at("blanks").hidden = found.length > 0 && !blank;
    at("missing_is_unlabeled").checked = Boolean(blank) && found.length === 2;
  }

  function compare() {
    const taken = new Set(roles.map((role) => at(role).value));
    const others = file.columns.map((column, i) => [column, String(i)])
      .filter(([column, i]) => column.numbers && !taken.has(i));
    const kept = new Set([...document.querySelectorAll("#compare input:checked")].map((box) => box.value));
    at("compare-choices").replaceChildren(...others.map(([column, i]) =>
      make("label", {}, make("input", { type: "checkbox", value: i, checked: kept.has(i) }), shorten(column.name))));
    at("compare").hidden = others.length === 0;
  }

  function number(id, problems, low, high, whole) {
    const field = at(id);
    const text = field.value.trim().replace(",", ".");
    const value = Number(text);
    const wrong = text !== "" && !(value >= low && value <= high && (!whole || Number.isInteger(value)));
    field.setAttribute("aria-invalid", String(wrong));
    if (wrong) problems.push([id, `${label(id)} must be a ${whole ? "whole " : ""}number from ${low} to ${high}, not ${field.value.slice(0, 40)}.`]);
    return text === "" || wrong ? undefined : value;
  }

  const label = (id) => document.querySelector(`label[for="${id}"]`).textContent;

  function wanted() {
    const problems = [];
    const asked = { file: file.file };
    const taken = new Map(); // columns, and what each is taken for
    for (const role of roles) {
      const chosen = at(role).value;
      const missing = chosen === "" && !optional.has(role);
      at(role).setAttribute("aria-invalid", String(missing));
      if (missing) problems.push([role, `Choose the column “${label(role)}”.`]);
      const twin = chosen === "" ? undefined : taken.get(chosen);
      if (twin) {
        at(role).setAttribute("aria-invalid", "true");
        problems.push([role, `“${label(twin)}” and “${label(role)}” must be different columns.`]);
      }
      taken.set(chosen, role);
      if (chosen !== "") asked[role] = file.columns[Number(chosen)].name;
    }
    asked.score = [asked.score];
    if (!at("compare").hidden) {
      for (const box of document.querySelectorAll("#compare input:checked")) {
        asked.score.push(file.columns[Number(box.value)].name);
      }
    }
    knowledge(asked, problems);
    if (document.querySelector('input[name="verified"]:checked').value === "yes") asked.beta = 1;
    asked.review = number("review", problems, 1, 1e9, true);
    asked.n_resamples = number("n_resamples", problems, 0, 20000, true);
    asked.confidence_level = number("confidence_level", problems, 0.5, 0.999);
    for (const id of ["positive_label", "negative_label", "scenario", "estimator"]) {
      if (at(id).value !== "") asked[id] = at(id).value;
    }
    if (at("missing_is_unlabeled").checked) asked.missing_is_unlabeled = true;
    return [asked, problems];
  }

  const known = () => document.querySelector('input[name="known"]:checked').value;

  function knowledge(asked, problems) {
    const share = (id) => number(id, problems, 0, 1);
    const needed = (id, value) => {
      if (value === undefined && at(id).value.trim() === "") {
        at(id).setAttribute("aria-invalid", "true");
        problems.push([id, `Fill in “${label(id)}”, or choose what else you know.`]);
      }
      return value;
    };
    const way = known();
    if (way === "exactly") {
      [asked.alpha, asked.beta] = [share("alpha"), share("beta")];
      if (asked.beta === undefined) needed("alpha", asked.alpha);
    } else if (way === "most") {
      asked.alpha = [0, needed("at_most", share("at_most"))];
    } else if (way === "between") {
      asked.alpha = ["alpha_low", "alpha_high"].map((id) => needed(id, share(id)));
    } else if (way === "hits") {
      asked.hits = ["n_hits", "n_followed"].map((id) => needed(id, number(id, problems, 0, 1e9, true)));
      const top = number("n_top", problems, 1, 1e9, true);
      if (top !== undefined) asked.hits_from = `top:${top}`;
    } else if (way === "judge") {
      asked.judged = true;
      if (!judging || !judging.counted) problems.push(["judge-start", "Judge at least one row first."]);
    }
  }

  // One row after another, each answered with a key or a button. Answers go to the server one batch
  // at a time; the next row is shown before the answer about the last one is back.
  let judging = null;

  async function startJudging() {
    complain("job-problem", "");
    const [asked, problems] = wanted();
    const about = { figure: at("figure").value, judge: at("judge").value.trim() };
    for (const name of ["labeled", "positive_label", "negative_label", "missing_is_unlabeled", "review"]) about[name] = asked[name];
    about.score = asked.score[0];
    const wrong = problems.filter(([id]) => ["score", "labeled", "review"].includes(id));
    if (wrong.length) {
      complain("job-problem", wrong.map(([, text]) => text).join("\n"));
      return;
    }
    judging = { file: file.file, about, rows: [], at: 0, said: new Map(), unsent: new Map(), sending: false };
    at("judge-start").disabled = true;
    at("judged").textContent = "Reading the rows …";
    await sendAnswers();
    at("judge-start").disabled = false;
    if (!judging.found) {
      at("judged").textContent = "";
      return;
    }
    at("judging").showModal();
    at("card-title").focus();
  }

  async function sendAnswers() {
    const mine = judging;
    if (mine.sending) return;
    mine.sending = true;
    do {
      const batch = [...mine.unsent];
      mine.unsent.clear();
      try {
        const body = JSON.stringify({ ...mine.about, answers: batch });
        const found = await ask("POST", `/api/files/${mine.file}/answers`, body, "application/json");
        if (mine !== judging) return;
        for (const row of found.rows) {
          const known = mine.rows.findIndex((each) => each.row === row.row);
          mine.rows[known < 0 ? mine.rows.length : known] = row; // its note may be new
        }
        mine.first ??= found;
        mine.found = found;
        mine.counted = found.yes + found.no;
      } catch (error) {
        for (const [row, said] of batch) if (!mine.unsent.has(row)) mine.unsent.set(row, said);
        mine.sending = false;
        if (mine !== judging) return;
        if (!mine.found) complain("job-problem", error.message);
        else complain("judge-problem", `${error.message} The last answers are not saved yet; the next one tries again.`);
        return;
      }
      complain("judge-problem", "");
      showRow();
    } while (mine.unsent.size);
    mine.sending = false;
  }

  function showRow() {
    const { found, first } = judging;
    const [low, high] = [Math.min(found.low, first.low), Math.max(found.high, first.high)];
    const place = (bar, ends) => {
      bar.style.left = `${(100 * (ends.low - low)) / (high - low)}%`;
      bar.style.width = `${(100 * (ends.high - ends.low)) / (high - low)}%`;
    };
    place(at("range-before"), first);
    place(at("range-now"), found);
    at("range-low").textContent = low.toFixed(2);
    at("range-high").textContent = high.toFixed(2);
    at("judge-status").textContent = found.status;
    at("remarks").replaceChildren(...found.remarks.map((text) => make("li", { textContent: text })));
    const row = judging.rows[judging.at];
    const n = `${judging.counted} judged${found.skip ? `, ${found.skip} skipped` : ""}`;
    const enough = judging.counted >= 10 ? ": that will do, or go on" : "";
    at("judged").textContent = judging.counted ? `${n}. ${found.status}` : "";
    for (const id of ["answers", "anew"]) at(id).hidden = !judging.counted;
    for (const key of document.querySelectorAll(".keys button")) key.disabled = !row && ["yes", "no", "skip"].includes(key.dataset.said);
    at("card-title").textContent = `${row ? `Row ${(row.row + 1).toLocaleString("en")}` : "No row is left"} · ${n}${enough}`;
    const said = row && judging.said.get(row.row);
    at("card-cells").replaceChildren(...(row ? row.cells : []).flatMap(([name, text]) =>
      [make("dt", { textContent: name }), make("dd", {}, ...withLinks(text))]));
    if (row && !row.cells.length) at("card-cells").append(make("dd", { textContent: "The file has no other columns: look this row up elsewhere." }));
    const notes = [said && `You said ${said}.`, row && row.note].filter(Boolean);
    at("card-cells").append(...notes.map((text) => make("dd", { className: "note", textContent: text })));
  }

  const withLinks = (text) => text.split(/(https?:\/\/[^\s<>"]+)/).map((part, i) =>
    (i % 2 ? make("a", { href: part, textContent: part, target: "_blank", rel: "noopener noreferrer" }) : part));

  function say(said) {
    if (!judging || !judging.found) return;
    if (said === "quit") {
      at("judging").close();
      return;
    }
    if (said === "back") {
      judging.at = Math.max(judging.at - 1, 0);
      showRow();
      return;
    }
    const row = judging.rows[judging.at];
    if (!row) return;
    judging.said.set(row.row, said);
    judging.unsent.set(row.row, said);
    do judging.at += 1; while (judging.at < judging.rows.length && judging.said.has(judging.rows[judging.at].row));
    showRow();
    sendAnswers();
  }

  async function download() {
    const headers = token ? { Authorization: `Bearer ${token}` } : {};
    const answer = await fetch(`/api/files/${judging.file}/answers`, { headers });
    if (!answer.ok) {
      complain("job-problem", "There are no answers yet.");
      return;
    }
    const link = make("a", { href: URL.createObjectURL(await answer.blob()),
      download: `${file.name.replace(/(\.[^.]*?)?(\.gz)?$/, "")}.judged.csv` });
    link.click();
    URL.revokeObjectURL(link.href);
  }

  function endJudging() {
    judging = null;
    at("judged").textContent = "";
    at("remarks").replaceChildren();
    for (const id of ["answers", "anew"]) at(id).hidden = true;
  }

  async function run(event) {
    event.preventDefault();
    if (!at("working").hidden) return; // Enter in a field, while one is being made
    complain("job-problem", "");
    const [asked, problems] = wanted();
    if (problems.length) {
      complain("job-problem", problems.map(([, text]) => text).join("\n"));
      const field = at(problems[0][0]);
      const folded = field.closest("details");
      if (folded) folded.open = true;
      field.focus();
      return;
    }
    const mine = ++attempt;
    working(true);
    at("progress").removeAttribute("value");
    at("job-status").textContent = "Waiting for a free worker …";
    try {
      const { job } = await ask("POST", "/api/jobs", JSON.stringify(asked), "application/json");
      if (mine !== attempt) {
        await forget(job); // canceled before it was started
        return;
      }
      running = job;
      await follow(job, mine);
    } catch (error) {
      if (mine !== attempt) return;
      at("job-status").textContent = "";
      complain("job-problem", error.message);
    }
    if (mine === attempt) working(false);
  }

  function working(yes) {
    at("run").disabled = yes;
    at("working").hidden = !yes;
    if (!yes) running = null;
  }

  const forget = (job) => ask("DELETE", `/api/jobs/${job}`).catch(() => {});

  async function follow(id, mine) {
    for (;;) {
      const job = await ask("GET", `/api/jobs/${id}`);
      if (mine !== attempt) return;
      if (job.state === "failed") throw new Error(sentence(job.error));
      if (job.state === "done") {
        await list();
        at("job-status").textContent = "The report is ready.";
        at("reports-heading").focus();
        return;
      }
      tell(job);
      await pause(job.state === "waiting" ? 300 : 400);
      if (mine !== attempt) return;
    }
  }

  function tell(job) {
    const bar = at("progress");
    if (job.total > 0) {
      bar.max = job.total;
      bar.value = job.done;
    } else bar.removeAttribute("value");
    at("job-status").textContent = job.state === "waiting" ? "Waiting for a free worker …" : `${job.step} …`;
  }

  function cancel() {
    attempt += 1;
    if (running) forget(running);
    working(false);
    at("job-status").textContent = "Canceled.";
    at("run").focus();
  }

  async function list() {
    const jobs = (await ask("GET", "/api/jobs")).filter((job) => job.state === "done");
    at("report-list").replaceChildren(...jobs.map(entry));
    at("reports").hidden = jobs.length === 0;
  }

  function entry(job) {
    const link = (text, end, properties) => // which carries no header, but the key of this report
      make("a", { textContent: text, href: `/api/jobs/${job.job}/report.${end}&key=${job.key}`, className: "plain", ...properties });
    const remove = make("button", { type: "button", className: "plain", textContent: "Remove" });
    remove.setAttribute("aria-label", `Remove the report on ${job.name}`);
    remove.addEventListener("click", async () => {
      await forget(job.job);
      await list();
      at("file").focus();
    });
    const item = make("li", {}, make("p", { className: "name",
      textContent: `${job.name}: ${job.score.map(shorten).join(" and ")}` }));
    item.append(...job.headline.map((sentence) => make("p", { textContent: sentence })));
    if (job.notes.length) item.append(make("p", { className: "note", textContent: job.notes.join("\n") }));
    item.append(make("p", { className: "actions" },
      link("Open the report", "html?download=0", { target: "_blank", rel: "noopener", className: "button" }),
      link("Download HTML", "html?download=1", { download: "" }),
      link("Download JSON", "json?download=1", { download: "" }), remove));
    return item;
  }

  at("file").addEventListener("change", (event) => {
    send(event.target.files[0]);
    event.target.value = ""; // so that the same file can be chosen again
  });
  at("example").addEventListener("click", () => {
    const name = "example_scores.csv";
    take(async () => upload(new File([await (await fetch(`/static/data/${name}`)).blob()], name)), name);
  });
  const drop = at("drop");
  for (const name of ["dragenter", "dragover"]) {
    document.addEventListener(name, (event) => { event.preventDefault(); drop.classList.add("over"); });
  }
  document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) drop.classList.remove("over"); });
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    send(event.dataTransfer.files[0]);
  });
  at("form").addEventListener("submit", run);
  at("cancel").addEventListener("click", cancel);
  for (const role of roles) at(role).addEventListener("change", compare);
  at("labeled").addEventListener("change", values);
  function showKnown() {
    for (const part of document.querySelectorAll("[data-known]")) part.hidden = part.dataset.known !== known();
  }
  for (const radio of document.querySelectorAll('input[name="known"]')) radio.addEventListener("change", showKnown);
  showKnown();
  at("judge-start").addEventListener("click", startJudging);
  at("answers").addEventListener("click", download);
  at("anew").addEventListener("click", async () => {
    if (!confirm("Remove all answers about this file?")) return;
    await ask("DELETE", `/api/files/${file.file}/answers`);
    endJudging();
    at("judge-start").focus();
  });
  for (const key of document.querySelectorAll(".keys button")) key.addEventListener("click", () => say(key.dataset.said));
  document.addEventListener("keydown", (event) => {
    const said = { y: "yes", n: "no", s: "skip", b: "back", q: "quit" }[event.key.toLowerCase()];
    if (!said || event.ctrlKey || event.metaKey || event.altKey || !at("judging").open) return;
    event.preventDefault();
    say(said);
  });
  window.addEventListener("hashchange", () => location.reload()); // the printed address, in this tab
  list().catch((error) => complain("job-problem", error.message));
})();
