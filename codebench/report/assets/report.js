"use strict";
(() => {
  const get = (id) => document.getElementById(id);
  const read = (id) => JSON.parse(get(id).textContent);
  const CHUNK = 50;

  /* Every text is put in as text: nothing of the data is ever read as markup. */
  const make = (name, attributes, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const name = (text) => make("bdi", null, text);

  document.body.classList.add("on");

  /* Which one within a budget. */
  const choices = read("choices");
  const budget = get("budget");
  const line = get("budget-line");
  const presets = [...document.querySelectorAll(".preset")];
  const mark = (series) => {
    for (const row of document.querySelectorAll("tr[data-series]"))
      row.classList.toggle("chosen", row.dataset.series === String(series));
  };
  const choose = () => {
    const ms = Number(budget.value);
    for (const one of presets) one.setAttribute("aria-pressed", String(Number(one.dataset.ms) === ms));
    if (!(ms > 0)) return;
    const found = choices.filter((one) => one[0] <= ms).pop();
    get("answer-ms").textContent = String(ms);
    get("answer-name").replaceChildren(found ? name(found[1]) : "none of them");
    const fastest = choices[0];
    const lines = found ? found[3] : fastest
      ? [`The fastest is ${fastest[1]}, whose p95 is ${Number(fastest[0].toPrecision(3))} ms.`]
      : ["No latency is known."];
    get("answer-lines").replaceChildren(...lines.map((one) => make("li", null, one)));
    mark(found ? found[2] : "");
    if (line) {
      const d = line.dataset;
      const [low, high, start, end] = [d.low, d.high, d.start, d.end].map(Number);
      const share = Math.log(ms / low) / Math.log(high / low);
      const at = start + Math.min(1, Math.max(0, share)) * (end - start);
      line.setAttribute("transform", `translate(${at.toFixed(1)} 0)`);
    }
  };
  budget.addEventListener("input", choose);
  for (const one of presets)
    one.addEventListener("click", () => { budget.value = one.dataset.ms; choose(); });
  choose();

  /* A point of the drawing leads to its row. */
  for (const point of document.querySelectorAll("a.point"))
    point.addEventListener("click", () => {
      mark(point.dataset.series);
      const row = get("r" + point.dataset.series);
      if (row) row.focus({ preventScroll: true });
    });

  /* One measure's slices at a time. */
  const select = get("slice-measure");
  if (select) {
    const show = () => {
      for (const one of document.querySelectorAll("#slices .group"))
        one.hidden = one.dataset.measure !== select.value;
    };
    select.addEventListener("change", show);
    show();
  }
  addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("#slices details")) one.open = true;
  });

  /* The queries. */
  const data = read("data");
  const names = data.names;
  const rows = data.queries.map((one, order) => {
    const [id, text, tags, values, targets, answers] = one;
    const known = values.filter((value) => value !== null);
    const paths = targets.map((target) => data.paths[target[1]] + " " + target[0]).join(" ");
    return {
      order, id, text, tags, values, targets, answers,
      words: `${id} ${text} ${tags} ${paths}`.toLowerCase(),
      mean: known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : -1,
      spread: known.length ? Math.max(...known) - Math.min(...known) : -1,
    };
  });
  const orders = [
    ["Where they differ most", (a, b) => b.spread - a.spread],
    ["Worst first (mean)", (a, b) => a.mean - b.mean],
    ["Best first (mean)", (a, b) => b.mean - a.mean],
    ["Order of the suite", () => 0],
  ];
  names.forEach((one, at) => {
    orders.push([`Worst first: ${one}`, (a, b) => (a.values[at] ?? -1) - (b.values[at] ?? -1)]);
    orders.push([`Best first: ${one}`, (a, b) => (b.values[at] ?? -1) - (a.values[at] ?? -1)]);
  });
  const sort = get("sort");
  orders.forEach(([label], at) => sort.append(make("option", { value: at }, label)));
  const search = get("search");
  const list = get("list");
  const body = list.tBodies[0];
  let shown = [];
  let count = 0;

  const headings = [];
  const heading = (label, up, down) => {
    const button = make("button", { type: "button" }, name(label));
    const cell = make("th", { scope: "col" }, button);
    button.addEventListener("click", () => {
      sort.value = String(Number(sort.value) === down ? up : down);
      render();
    });
    headings.push([cell, up, down]);
    return cell;
  };
  const head = make("tr", null, heading(`query (values: ${data.measure})`, 3, 0));
  names.forEach((one, at) => head.append(heading(one, 4 + 2 * at, 5 + 2 * at)));
  list.tHead.append(head);

  const value = (one) => (one === null || one === undefined ? "-" : one.toFixed(3));

  const lines = (path, start, end, gold) => {
    const found = [];
    for (const run of data.code[path] || []) {
      const last = run[0] + run.length - 2;
      for (let at = Math.max(start, run[0]); at <= Math.min(end, last); at++)
        found.push([at, run[at - run[0] + 1]]);
    }
    if (!found.length) return null;
    const pre = make("pre", { tabindex: "0" });
    for (const [at, text] of found) {
      const golden = gold.some(([first, last]) => first <= at && at <= last);
      const row = make("span", { class: golden ? "row gold" : "row" },
        make("span", { class: "number" }, String(at)));
      row.append(golden ? make("mark", null, text) : text, "\n");
      pre.append(row);
    }
    const left = end - found[found.length - 1][0];
    if (left > 0) pre.append(make("span", { class: "row number" }, `… to line ${end}`));
    return pre;
  };
  const code = (path, start, end, gold) => lines(path, start, end, gold) || make("p",
    { class: "none" }, data.missing
      ? `The code is not at hand: ${data.missing}.`
      : "This code is not in the report; codebench show RUN QUERY prints it.");

  const hit = (row, place, reached) => {
    const [path, start, end, symbol] = data.places.slice(4 * place, 4 * place + 4);
    const at = start ? (end > start ? `:${start}-${end}` : `:${start}`) : "";
    const label = [data.paths[path] + at, data.symbols[symbol]].filter(Boolean).join(" ");
    const [said, paid] = reached || [0, 0];
    const summary = make("summary", null,
      make("bdi", { class: "place" }, label),
      make("span", { class: paid ? "said paid" : "said" }, data.said[said]));
    const box = make("details", null, summary);
    box.addEventListener("toggle", () => {
      if (!box.open || box.children.length > 1) return;
      const gold = row.targets.filter((one) => one[1] === path).flatMap((one) => one[3]);
      box.append(code(path, start || 1, end || start || 24, gold));
    });
    return make("li", null, box);
  };

  const ranking = (row, at) => {
    const [places, reached, returned, ms, status] = row.answers[at];
    const facts = [value(row.values[at]), ms === null ? "" : `${ms.toPrecision(3)} ms`];
    const box = make("section", null,
      make("h4", null, name(names[at]), " ", make("small", null, facts.filter(Boolean).join(", "))));
    if (status) box.append(make("p", { class: "none" }, status));
    const items = make("ol");
    places.forEach((place, rank) => items.append(hit(row, place, reached[rank])));
    box.append(items);
    const left = returned - places.length;
    if (left > 0) box.append(make("p", { class: "none" }, `… ${left} more in the run`));
    else if (!returned && !status) box.append(make("p", { class: "none" }, "no hit"));
    return box;
  };

  const gold = (row) => {
    const box = make("div");
    for (const [chunk, path, grade, spans] of row.targets) {
      box.append(make("h3", null, "Gold: ", name(chunk), " ",
        make("small", null, name(data.paths[path]), `, grade ${grade}`)));
      if (spans.length) {
        const end = spans[spans.length - 1][1];
        box.append(code(path, spans[0][0], Math.min(end, spans[0][0] + 79), spans));
      }
    }
    return box;
  };

  const detail = (row) => make("tr", { class: "detail" },
    make("td", { colspan: String(names.length + 1) }, gold(row),
      make("div", { class: "rankings" }, ...names.map((_, at) => ranking(row, at)))));

  const entry = (row) => {
    const button = make("button", { type: "button", class: "open", "aria-expanded": "false" },
      name(row.text));
    const cells = row.values.map((one) => make("td",
      one !== null && row.spread > 0 && one === Math.max(...row.values) ? { class: "top" } : null,
      value(one)));
    const line = make("tr", null, make("th", { scope: "row" }, button,
      make("bdi", { class: "about" }, `${row.id} ${row.tags}`),
      make("bdi", { class: "phone", "aria-hidden": "true" },
        names.map((one, at) => `${one} ${value(row.values[at])}`).join(", "))), ...cells);
    button.addEventListener("click", () => {
      const open = button.getAttribute("aria-expanded") === "true";
      button.setAttribute("aria-expanded", String(!open));
      if (open) line.nextSibling.remove();
      else line.after(detail(row));
    });
    return line;
  };

  const more = () => {
    body.append(...shown.slice(count, count + CHUNK).map(entry));
    count = Math.min(count + CHUNK, shown.length);
    get("more").hidden = count >= shown.length;
  };
  const render = () => {
    const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const order = orders[Number(sort.value)][1];
    shown = rows.filter((row) => wanted.every((word) => row.words.includes(word)))
      .sort((a, b) => order(a, b) || a.order - b.order);
    for (const [cell, up, down] of headings) {
      const own = Number(sort.value);
      if (own === up) cell.setAttribute("aria-sort", "ascending");
      else if (own === down) cell.setAttribute("aria-sort", "descending");
      else cell.removeAttribute("aria-sort");
    }
    body.replaceChildren();
    count = 0;
    const of = data.asked > rows.length ? `${rows.length} listed of ${data.asked}` : `${rows.length}`;
    get("count").textContent = `${shown.length} of ${of} queries`;
    more();
  };
  search.addEventListener("input", render);
  sort.addEventListener("change", render);
  get("more").addEventListener("click", more);
  render();
})();
