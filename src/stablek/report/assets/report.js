/* All charts and tables are drawn from `state`. */
(function () {
  "use strict";

  const S = JSON.parse(document.getElementById("summary").textContent);
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;
  const PALETTE = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#999933"];
  // Candidates have colors of their own, so that nobody takes a K for a cluster.
  const K_PALETTE = ["#7B5CD6", "#C2417F", "#2F8F8B", "#A8763E", "#6F7D8C", "#8E8A1F"];
  const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x", "star"];
  const QUANTITIES = ["between", "within", "stadion"];
  const P = S.parameter;
  const answer = S.selected === null ? S.contenders[0] ?? 0 : S.selected;
  const partitionOf = new Map(S.partitions.map((p, j) => [p.candidate, j]));
  const numeric = S.candidates.every((c) => typeof c.value === "number");

  const state = { k: answer, hovered: null, cluster: null, epsilon: 0, allFeatures: false };
  // Least stable points of the answer and of the best other candidates; null where not measured.
  const unstableOf = (k) => (k === answer && S.selected !== null ? S.unstable_points : (S.unstable_of_others || {})[k]) || null;
  const current = () => (state.hovered === null ? state.k : state.hovered);

  // ---- text -------------------------------------------------------------------------------
  const isNumber = (v) => typeof v === "number";
  function text(value, digits = 4) {
    if (value === null || value === undefined) return "–";
    if (value === "inf") return "∞";
    if (value === "-inf") return "−∞";
    if (!isNumber(value)) return String(value);
    return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(digits)));
  }
  const fixed = (v, d = 2) => (isNumber(v) ? v.toFixed(d) : "–");
  const percent = (v) => (v > 0 && v < 0.005 ? "<1%" : v >= 0.995 && v < 1 ? ">99%" : `${Math.round(v * 100)}%`);
  const named = (k) => `${P} = ${text(S.candidates[k].value, 6)}`;
  const plural = (n) => `${n} cluster${n === 1 ? "" : "s"}`;
  const clusterName = (label) => (label < 0 ? "noise" : String(label));
  // Plotly interprets some tags in its texts: escape what comes from the data.
  const plain = (s) => String(s).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const pointName = (p) => (p.id === null ? `row ${p.row}` : plain(brief(p.id)));
  const brief = (s, n = 60) => (s.length > n ? s.slice(0, n - 1) + "…" : s);

  function element(tag, options = {}, ...children) {
    const { className, style, ...attributes } = options;
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (style) Object.assign(made.style, style);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  // ---- colors ----------------------------------------------------------------------------
  const probe = element("span", { hidden: "" });
  document.body.append(probe);
  function color(name) {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  }

  const kColor = (k) => {
    const place = S.contenders.indexOf(k);
    return place < 0 ? null : K_PALETTE[place % K_PALETTE.length];
  };
  const clusterColor = (c) => (c.label < 0 ? "#888888" : PALETTE[c.color % PALETTE.length]);
  const clusterSymbol = (c) =>
    c.label < 0 ? "x-thin-open" : SYMBOLS[Math.floor(c.color / PALETTE.length) % SYMBOLS.length];

  // ---- charts -----------------------------------------------------------------------------
  const touch = matchMedia("(pointer: coarse)").matches;
  const CONFIG = { displaylogo: false, displayModeBar: false, responsive: true, doubleClick: false };
  const SCATTER_CONFIG = {
    ...CONFIG,
    displayModeBar: touch ? false : "hover",
    doubleClick: "reset",
    // List the buttons, because Plotly also has buttons that upload the data.
    modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]],
  };

  function layout(extra = {}) {
    const axis = {
      gridcolor: color("grid"), zerolinecolor: color("line"), linecolor: color("line"),
      fixedrange: true, automargin: true, ticks: "", ...extra.axis,
    };
    return {
      font: { family: getComputedStyle(document.body).fontFamily, color: color("soft"), size: 12 },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      margin: { l: 44, r: 14, t: 12, b: 40 }, showlegend: false, autosize: true, hovermode: "closest",
      hoverlabel: { bgcolor: color("card"), bordercolor: color("quiet-line"), font: { color: color("ink") } },
      dragmode: false, transition: { duration: 0 },
      xaxis: { ...axis, ...extra.xaxis }, yaxis: { ...axis, ...extra.yaxis },
      shapes: extra.shapes || [], annotations: extra.annotations || [],
    };
  }
  function kAxis() {
    const axis = { title: { text: plain(brief(P)), standoff: 6 } };
    if (!numeric) return { ...axis, tickmode: "array",
      tickvals: S.candidates.map((_, k) => k), ticktext: S.candidates.map((c) => plain(brief(text(c.value), 14))) };
    const whole = S.candidates.every((c) => Number.isInteger(c.value));
    return { ...axis, ...(whole && S.candidates.length <= 15 ? { tickmode: "array", tickvals: S.candidates.map((c) => c.value) } : {}) };
  }
  const probability = (p) => (p < 0.001 ? "p < 0.001" : `p = ${p >= 0.1 ? p.toFixed(2) : Number(p.toPrecision(2))}`);
  // With the maximum as score, every K is drawn at the level where the best path is highest.
  const atPeak = S.paths && S.settings.aggregation === "'max'";
  const height = (k) => finite(atPeak ? S.candidates[k].peak_stadion : S.candidates[k].score);
  // One cluster has a p-value in place of a score if the structure test decides.
  function scoreText(k) {
    const { score, value } = S.candidates[k];
    if (score !== null) return `score ${text(score, 3)}`;
    return P === "K" && value === 1 && S.structure ? probability(S.structure.pvalue) : "no score";
  }
  const kPosition = (k) => (numeric ? S.candidates[k].value : k);
  const finite = (v) => (isNumber(v) ? v : null);
  const emphasized = (k) => k === current();

  const builders = {
    "plot-scores": () => {
      const all = S.candidates.map((_, k) => k);
      const k = current();
      const shown = height(k);
      return {
        data: [
          {
            x: all.map(kPosition), y: all.map(height), mode: "lines+markers",
            line: { color: color("quiet-line"), width: 2 },
            marker: { size: all.map((i) => (kColor(i) ? 10 : 6)), color: all.map((i) => kColor(i) || color("faint")), opacity: 1 },
            customdata: all, hoverinfo: "text",
            text: all.map((i) => `${plain(brief(named(i)))}${atPeak ? `<br>Stadion ${text(height(i))}` : ""}<br>score ${text(S.candidates[i].score)}`),
          },
          {
            x: [kPosition(k)], y: [shown], mode: "markers", hoverinfo: "skip",
            marker: { size: 19, symbol: "circle-open", color: color("ink"), line: { width: 2.5 } },
          },
        ],
        layout: layout({
          xaxis: kAxis(),
          // A candidate without a score has no point on the curve: mark its place.
          shapes: shown === null ? [{ type: "line", x0: kPosition(k), x1: kPosition(k), y0: 0, y1: 1, yref: "paper",
            line: { color: color("ink"), width: 1.5, dash: "dot" } }] : [],
          annotations: shown === null
            ? [{ x: kPosition(k), y: 1, yref: "paper", text: plain(scoreText(k)), showarrow: false, xanchor: "left", xshift: 4 }]
            : [{ x: kPosition(k), y: shown, text: `<b>${text(shown, 3)}</b>`, showarrow: false, yshift: 20, font: { color: color("ink") } }],
        }),
      };
    },

    "plot-structure": () => {
      // For each kind a dot for each reference set, and a diamond for the data.
      const { statistics, reference_statistics: sets, valley, reference_valleys: valleys, pvalues } = S.structure;
      return {
        data: Object.keys(statistics).map((kind, i) => ({
          x: [...sets[kind], statistics[kind]], y: [...valleys[kind], valley], mode: "markers",
          name: `${plain(brief(kind, 20))}: ${plain(probability(pvalues[kind]))}`, hoverinfo: "x+y+name",
          marker: { color: PALETTE[i % PALETTE.length], opacity: [...sets[kind].map(() => 0.6), 1],
            size: [...sets[kind].map(() => 7), 13], symbol: [...sets[kind].map(() => "circle"), "diamond"] },
        })),
        layout: { ...layout({
          xaxis: { title: { text: "excess stability", standoff: 6 } },
          yaxis: { title: { text: "valley", standoff: 4 } },
        }), margin: { l: 44, r: 14, t: 4, b: 36 }, showlegend: true,
        // Above the points: the diamonds of clear clusters are in the upper right corner.
        legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", bgcolor: "rgba(0,0,0,0)", font: { size: 10 } } },
      };
    },

    "plot-frequency": () => {
      // A bar for each candidate, or for each answer on subsamples if candidates are no numbers of clusters.
      const counts = S.subsamples && S.subsamples.counts;
      const bars = counts && P !== "K"
        ? Object.keys(counts).map((k) => ({ x: Number(k), share: counts[k] / S.subsamples.n_subsamples, name: `K = ${k}` }))
        : S.candidates.map((c, i) => ({ i, x: kPosition(i), name: named(i),
          share: counts ? (counts[c.value] || 0) / S.subsamples.n_subsamples : c.frequency }));
      const where = counts ? "of the subsamples" : "of the resampled draws";
      return {
        data: [{
          type: "bar", x: bars.map((b) => b.x), y: bars.map((b) => b.share), customdata: bars.map((b) => b.i),
          marker: {
            color: bars.map((b) => kColor(b.i) || color("faint")),
            opacity: bars.map((b) => (emphasized(b.i) ? 1 : 0.55)),
            line: { color: color("ink"), width: bars.map((b) => (emphasized(b.i) ? 2 : 0)) },
          },
          hoverinfo: "text", textposition: "none",
          text: bars.map((b) => `${plain(brief(b.name))}<br>${plain(percent(b.share))} ${where}`),
        }],
        layout: layout({
          xaxis: counts && P !== "K" ? { title: { text: "number of clusters", standoff: 6 }, dtick: 1 } : kAxis(),
          yaxis: { tickformat: ".0%", range: [0, 1.1], tickvals: [0, 0.25, 0.5, 0.75, 1] },
          annotations: bars.filter((b) => b.share >= 0.03).map((b) => ({
            x: b.x, y: b.share, text: percent(b.share), showarrow: false, yshift: 10,
          })),
        }),
      };
    },

    "plot-votes": () => {
      const counts = new Map();
      for (const row of S.comparison) if (row.n_clusters !== null) counts.set(row.n_clusters, (counts.get(row.n_clusters) || 0) + 1);
      const ks = [...counts.keys()].sort((a, b) => a - b);
      const here = S.candidates[current()].value;
      return {
        data: [{
          type: "bar", x: ks.map(String), y: ks.map((k) => counts.get(k)), hoverinfo: "x+y",
          marker: { color: ks.map((k) => (k === here ? color("accent") : color("faint"))) },
        }],
        layout: layout({
          xaxis: { type: "category", title: { text: "number of clusters", standoff: 6 } },
          yaxis: { title: { text: "criteria" }, dtick: Math.max(1, Math.ceil(Math.max(...counts.values(), 1) / 6)) },
        }),
      };
    },

    "plot-scatter": () => {
      const view = S.scatter;
      const k = current();
      const j = partitionOf.has(k) ? partitionOf.get(k) : partitionOf.get(null);
      const clusters = new Map(j === undefined ? [] : S.partitions[j].clusters.map((c) => [c.label, c]));
      const labels = j === undefined ? null : view.labels[j];
      const known = k === answer && S.selected !== null ? view.stability : null;
      const each = (f, other) => (labels ? labels.map((l, i) => f(clusters.get(l), i)) : other);
      const few = view.n_shown <= 500;
      const data = [{
        x: view.x, y: view.y, mode: "markers", hoverinfo: "text",
        marker: {
          size: few ? 9 : view.n_shown <= 1500 ? 7 : 5,
          color: each(clusterColor, color("faint")), symbol: each(clusterSymbol, "circle"),
          opacity: each((c, i) => (state.cluster !== null && c.label !== state.cluster ? 0.06
            : known ? 0.15 + 0.85 * known[i] : 0.85), 0.5),
          line: { width: 0 },
        },
        text: view.rows.map((row, i) => `row ${row}` + (labels ? `<br>cluster ${clusterName(labels[i])}` : "") +
          (known ? `<br>stability ${fixed(known[i])}` : "")),
      }];
      const unstable = unstableOf(k);
      if (unstable && state.cluster === null) {
        data.push({
          x: unstable.map((p) => p.x), y: unstable.map((p) => p.y), mode: "markers",
          marker: { size: few ? 15 : 12, symbol: "circle-open", color: color("ink"), line: { width: 1.5 } },
          hoverinfo: "text", text: unstable.map((p) => `${pointName(p)}<br>cluster ${clusterName(p.label)}<br>stability ${fixed(p.stability)}`),
        });
      }
      const axis = (i) => ({ title: { text: plain(brief(view.axes[i])), standoff: 8 }, fixedrange: false, zeroline: false });
      const made = layout({ xaxis: axis(0), yaxis: { ...axis(1), ...(view.axes[1] ? {} : { showticklabels: false, showgrid: false, range: [-0.5, 1.5] }) } });
      // On a touch screen, dragging scrolls the page.
      made.dragmode = touch ? false : "zoom";
      return { data, layout: made, config: SCATTER_CONFIG };
    },
  };

  function range(xs, low, high, c) {
    return { x: [...xs, ...[...xs].reverse()], y: [...high, ...[...low].reverse()], fill: "toself", mode: "lines",
      line: { width: 0 }, fillcolor: c, opacity: 0.22, hoverinfo: "skip" };
  }
  const band = (xs, mean, error, c) =>
    range(xs, mean.map((m, i) => m - (error[i] || 0)), mean.map((m, i) => m + (error[i] || 0)), c);
  // Reference sets of the shown K. One cluster is not tested: show those of the best other K.
  function referenceBand(here) {
    if (!S.structure || P !== "K") return [];
    const tested = (k) => S.structure.k_values.indexOf(S.candidates[k].value);
    const k = S.candidates[here].value === 1 ? S.contenders.find((i) => tested(i) >= 0) : here;
    const row = k === undefined ? -1 : tested(k);
    if (row < 0) return [];
    return [{ ...range(S.structure.epsilons, S.structure.reference_low[row], S.structure.reference_high[row], color("faint")),
      name: `no clusters, ${named(k)}` }];
  }
  function pathBuilder(quantity) {
    return () => {
      const paths = S.paths;
      const xs = paths.epsilons;
      const here = current();
      const data = quantity === "stadion" ? referenceBand(here) : [];
      const draw = (k, extra) => {
        const one = P === "K" && S.candidates[k].value === 1;
        data.push({
          x: xs, y: paths[quantity][k], mode: "lines", customdata: xs.map(() => k), hoverinfo: "text",
          line: { color: kColor(k) || (one ? color("soft") : color("quiet-line")), width: kColor(k) ? 2 : 1,
            dash: one ? "dot" : "solid", ...extra },
          text: xs.map((e, i) => `${plain(brief(named(k)))}<br>ε ${text(e, 3)}<br>${quantity} ${fixed(paths[quantity][k][i], 3)}` +
            (isNumber(paths[`${quantity}_se`][k][i]) ? ` ± ${fixed(paths[`${quantity}_se`][k][i], 3)}` : "")),
        });
      };
      S.candidates.forEach((_, k) => { if (!S.contenders.includes(k) && k !== here) draw(k); });
      [...S.contenders].reverse().forEach((k) => { if (k !== here) draw(k); });
      if (paths.one_cluster) data.push({ x: xs, y: paths.one_cluster[quantity], mode: "lines", hoverinfo: "text",
        line: { color: color("soft"), dash: "dot", width: 1.5 }, text: xs.map(() => "one cluster") });
      const strong = kColor(here) || color("ink");
      data.push(band(xs, paths[quantity][here], paths[`${quantity}_se`][here], strong));
      draw(here, { width: 4.5, color: strong });
      const e = xs[state.epsilon];
      data.push({ x: [e], y: [paths[quantity][here][state.epsilon]], mode: "markers", hoverinfo: "skip",
        marker: { size: 11, color: strong, line: { color: color("card"), width: 2 } } });
      const shapes = [{ type: "line", x0: e, x1: e, y0: 0, y1: 1, yref: "paper", line: { color: color("ink"), width: 1 } }];
      const annotations = [];
      if (paths.crossing_epsilon > 0) {
        const end = xs[xs.length - 1];
        shapes.push({ type: "line", x0: paths.crossing_epsilon, x1: paths.crossing_epsilon, y0: 0, y1: 1, yref: "paper",
          line: { color: color("soft"), width: 1.5, dash: "dash" } });
        if (paths.crossing_epsilon < end) shapes.push({ type: "rect", x0: paths.crossing_epsilon, x1: end, y0: 0, y1: 1,
          yref: "paper", line: { width: 0 }, fillcolor: color("faint"), opacity: 0.13, layer: "below" });
        annotations.push({ x: paths.crossing_epsilon, y: 1, yref: "paper", text: "crossing", showarrow: false,
          xanchor: paths.crossing_epsilon > end * 0.75 ? "right" : "left", yanchor: "top", font: { size: 11 } });
      }
      return { data, layout: layout({ xaxis: { title: { text: "noise level ε", standoff: 6 }, range: [xs[0], xs[xs.length - 1]] }, shapes, annotations }) };
    };
  }
  if (S.paths) for (const quantity of QUANTITIES) builders[`plot-${quantity}`] = pathBuilder(quantity);

  const charts = Object.keys(builders).filter((id) => $(id));
  function draw(ids = charts) {
    for (const id of ids) {
      const { data, layout: made, config } = builders[id]();
      // The browser computes the layout for paper after all scripts: set the size here.
      if (root.dataset.printing) Object.assign(made, { autosize: false, width: $(id).clientWidth, height: $(id).clientHeight });
      Plotly.react(id, data, made, config || CONFIG);
    }
  }
  const pathCharts = charts.filter((id) => QUANTITIES.some((q) => id === `plot-${q}`));

  // ---- tables -----------------------------------------------------------------------------
  function header(names, rightFrom = 1) {
    return element("thead", {}, element("tr", {}, ...names.map((n, i) => {
      const cell = element("th", { scope: "col", className: i >= rightFrom ? "n" : "" });
      cell.append(element("span", { className: "name", dir: "auto", title: n }, n));
      return cell;
    })));
  }
  const chip = (c) => element("span", { className: "chip", style: { background: clusterColor(c) } });

  function drawTables() {
    const j = partitionOf.has(current()) ? partitionOf.get(current()) : partitionOf.get(null);
    const clusters = j === undefined ? null : S.partitions[j].clusters;
    drawClusters(clusters);
    drawMeans(clusters);
    drawPoints(current());
  }
  function nothing(table) {
    table.replaceChildren(element("tbody", {}, element("tr", {}, element("td", {},
      `This report does not contain the partition of ${named(current())}.`))));
  }
  function drawClusters(clusters) {
    const table = $("clusters");
    if (!table) return;
    if (!clusters) return nothing(table);
    const inside = clusters.some((c) => c.within_stability !== null);
    const body = element("tbody");
    for (const c of clusters) {
      const row = element("tr", { tabindex: "0" },
        element("th", { scope: "row" }, chip(c), clusterName(c.label)),
        element("td", { className: "n" }, c.size.toLocaleString("en")),
        element("td", { className: "n" }, percent(c.share)));
      if (inside) {
        const w = c.within_stability;
        const bar = element("i", { "aria-hidden": "true" }, element("b", { style: { width: `${100 * Math.max(0, Math.min(1, w || 0))}%` } }));
        row.append(element("td", { className: "n" }, element("span", { className: "bar" }, bar, fixed(w))));
        const hidden = element("td");
        if (c.hidden_k !== null) hidden.append(element("span", { className: "tag" }, `hides ${text(c.hidden_k)}`));
        row.append(hidden);
      }
      const look = (label) => () => { if (state.cluster !== label) { state.cluster = label; if ($("plot-scatter")) draw(["plot-scatter"]); } };
      row.addEventListener("mouseenter", look(c.label));
      row.addEventListener("mouseleave", look(null));
      row.addEventListener("focus", look(c.label));
      row.addEventListener("blur", look(null));
      body.append(row);
    }
    table.replaceChildren(header(["cluster", "points", "share", ...(inside ? ["within stability", "hidden"] : [])]), body);
  }
  function drawMeans(clusters) {
    const table = $("means");
    if (!table) return;
    if (!clusters) return nothing(table);
    const { names, mean, standard_deviation: sd, best } = S.features;
    const shown = state.allFeatures ? names.map((_, f) => f) : best;
    const body = element("tbody");
    for (const c of clusters) {
      const row = element("tr", {}, element("th", { scope: "row" }, chip(c), clusterName(c.label)));
      shown.forEach((f) => {
        const m = c.means[f];
        const z = sd[f] > 0 ? (m - mean[f]) / sd[f] : 0;
        const strength = Math.min(1, Math.abs(z) / 2) * 45;
        row.append(element("td", { title: `${z >= 0 ? "+" : "−"}${Math.abs(z).toFixed(1)} standard deviations`,
          style: { background: `color-mix(in srgb, ${z >= 0 ? "#0072B2" : "#E69F00"} ${strength.toFixed(0)}%, transparent)` } }, text(m)));
      });
      body.append(row);
    }
    const all = element("tr", {}, element("th", { scope: "row" }, "all points"), ...shown.map((f) => element("td", {}, text(mean[f]))));
    body.append(all);
    table.replaceChildren(header(["cluster", ...shown.map((f) => names[f])]), body);
  }
  function drawPoints(k) {
    const table = $("points");
    if (!table) return;
    const points = unstableOf(k);
    $("h-points").textContent = `Least stable points for ${brief(named(k))}`;
    if (!points || !points.length) {
      const why = points ? "All points keep their cluster in every draw." : "Measured for the answer and the best other candidates only.";
      table.replaceChildren(element("tbody", {}, element("tr", {}, element("td", {}, why))));
      return;
    }
    const withId = points.some((p) => p.id !== null);
    const body = element("tbody");
    for (const p of points) {
      const cells = [...(withId ? [element("th", { scope: "row", dir: "auto" }, brief(p.id))] : []),
        ...[String(p.row), clusterName(p.label), fixed(p.stability)].map((s) => element("td", { className: "n" }, s))];
      body.append(element("tr", {}, ...cells));
    }
    table.replaceChildren(header([...(withId ? ["id"] : []), "row", "cluster", "stability"]), body);
  }

  // ---- texts that depend on the state ----------------------------------------------------------
  function drawWords() {
    const k = current();
    const c = S.candidates[k];
    const parts = [`${state.hovered === null ? "Showing" : "A look at"} ${named(k)}`];
    if (c.n_clusters !== null && (P !== "K" || c.n_clusters !== c.value)) parts.push(plural(c.n_clusters));
    parts.push(scoreText(k));
    if (S.subsamples && P === "K") parts.push(`answer on ${S.subsamples.counts[c.value] || 0} of ${S.subsamples.n_subsamples} subsamples`);
    else if (S.answer.frequency !== null) parts.push(`chosen in ${percent(c.frequency)} of resampled noise draws`);
    if (k === S.selected) parts.push("the answer");
    $("status").textContent = parts.join(" · ");
    $("back").hidden = state.k === answer || S.selected === null;
    if ($("scatter-hint")) {
      const view = S.scatter;
      const sample = view.n_shown < view.n_total
        ? `A random sample of ${view.n_shown.toLocaleString("en")} of ${view.n_total.toLocaleString("en")} points.`
        : `All ${view.n_total.toLocaleString("en")} points.`;
      const fade = k === S.selected && view.stability ? " Faint points are unstable. Rings mark the least stable points." : "";
      const height = view.axes[1] ? "" : " The height has no meaning.";
      $("h-scatter").textContent = `Partition for ${brief(named(k))}`;
      $("scatter-hint").textContent = sample + fade + height;
    }
    if ($("h-clusters")) $("h-clusters").textContent = `Clusters for ${brief(named(k))}`;
    if ($("h-means")) $("h-means").textContent = `Means of the features for ${brief(named(k))}`;
    drawReading();
    for (const row of document.querySelectorAll("#comparison tbody tr")) {
      row.classList.toggle("is-here", Number(row.dataset.n) === (P === "K" ? c.value : c.n_clusters));
    }
  }
  function drawReading() {
    if (!S.paths) return;
    const e = state.epsilon;
    const k = current();
    const values = QUANTITIES.map((q) => S.paths[q][k][e]);
    const scored = S.candidates.map((_, i) => i).filter((i) => S.candidates[i].score !== null);
    const order = (scored.length ? scored : [k]).sort((a, b) => S.paths.stadion[b][e] - S.paths.stadion[a][e]);
    $("epsilon-value").textContent = fixed(S.paths.epsilons[e], 3);
    const bold = (s) => element("b", {}, s);
    const words = [bold(named(k)), `: between ${fixed(values[0], 3)} − within ${fixed(values[1], 3)} = Stadion `, bold(fixed(values[2], 3))];
    if (S.paths.epsilons[e] === 0) words.push(". Without noise, this decides nothing.");
    else {
      words.push(". Best at this level: ", bold(named(order[0])), ` (${fixed(S.paths.stadion[order[0]][e], 3)}).`);
      if (!S.paths.counted[e]) words.push(" This level does not count.");
    }
    $("epsilon-reading").replaceChildren(...words);
  }

  // ---- changing the state -------------------------------------------------------------------
  const buttons = S.candidates.map((c, k) => {
    const button = element("button", { type: "button", role: "radio", title: named(k) }, text(c.value, 6));
    if (kColor(k)) button.style.setProperty("--k", kColor(k));
    if (k === S.selected) { button.classList.add("is-chosen"); button.setAttribute("aria-label", `${text(c.value, 6)}, the answer`); }
    button.addEventListener("click", () => choose(k));
    button.addEventListener("mouseenter", () => hover(k));
    button.addEventListener("mouseleave", () => hover(null));
    $("ks").append(button);
    return button;
  });
  function mark() {
    buttons.forEach((button, k) => {
      button.setAttribute("aria-checked", String(k === state.k));
      button.tabIndex = k === state.k ? 0 : -1;
      button.classList.toggle("is-hovered", k === state.hovered);
    });
  }
  function refresh() {
    mark();
    drawWords();
    drawTables();
    draw();
  }
  function reveal(k) {
    const bar = $("ks");
    const button = buttons[k];
    if (button.offsetLeft < bar.scrollLeft || button.offsetLeft + button.offsetWidth > bar.scrollLeft + bar.clientWidth)
      bar.scrollLeft = button.offsetLeft - bar.offsetLeft - bar.clientWidth / 2;
  }
  function choose(k) {
    clearTimeout(waiting);
    state.k = k;
    state.hovered = null;
    state.cluster = null;
    reveal(k);
    refresh();
  }
  let waiting = 0;
  function hover(k) {
    // Wait a moment: a pointer that only passes over should not redraw the charts.
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (state.hovered === k || (k === state.k && state.hovered === null)) return;
      state.hovered = k === state.k ? null : k;
      refresh();
    }, k === null ? 120 : 70);
  }
  $("ks").addEventListener("keydown", (event) => {
    const last = S.candidates.length - 1;
    const next = { ArrowRight: state.k + 1, ArrowDown: state.k + 1, ArrowLeft: state.k - 1, ArrowUp: state.k - 1, Home: 0, End: last }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    choose(Math.max(0, Math.min(last, next)));
    buttons[state.k].focus();
  });
  if ($("all-features")) $("all-features").addEventListener("click", (event) => {
    state.allFeatures = !state.allFeatures;
    event.target.setAttribute("aria-pressed", String(state.allFeatures));
    event.target.textContent = state.allFeatures
      ? `Show the ${S.features.best.length} features that separate best` : `Show all ${S.features.names.length} features`;
    drawTables();
  });
  $("back").addEventListener("click", () => { choose(answer); buttons[answer].focus(); });

  if (S.paths) {
    const slider = $("epsilon");
    state.epsilon = S.paths.peak;
    slider.value = state.epsilon;
    const say = () => slider.setAttribute("aria-valuetext", `ε = ${fixed(S.paths.epsilons[state.epsilon], 3)}`);
    slider.addEventListener("input", () => {
      state.epsilon = Number(slider.value);
      say();
      drawReading();
      draw(pathCharts);
    });
    say();
  }

  // ---- theme, copying, printing -------------------------------------------------------------
  const theme = $("theme");
  function setTheme(name) {
    root.dataset.theme = name;
    theme.setAttribute("aria-pressed", String(name === "dark"));
    theme.textContent = name === "dark" ? "Light" : "Dark";
    theme.setAttribute("aria-label", `Switch to ${name === "dark" ? "light" : "dark"} colors`);
  }
  const preference = matchMedia("(prefers-color-scheme: dark)");
  setTheme(preference.matches ? "dark" : "light");
  preference.addEventListener("change", () => { setTheme(preference.matches ? "dark" : "light"); draw(); });
  theme.addEventListener("click", () => { setTheme(root.dataset.theme === "dark" ? "light" : "dark"); draw(); });

  $("copy").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText($("snippet").textContent);
      $("copy").textContent = "Copied";
    } catch {
      getSelection().selectAllChildren($("snippet"));
      $("copy").textContent = "Selected";
    }
  });

  let before = null;
  addEventListener("beforeprint", () => {
    if (before) return;
    before = { theme: root.dataset.theme, open: [...document.querySelectorAll("details")].filter((d) => d.open) };
    setTheme("light");
    root.dataset.printing = "true";
    for (const each of document.querySelectorAll("details")) each.open = true;
    draw();
  });
  addEventListener("afterprint", () => {
    if (!before) return;
    delete root.dataset.printing;
    setTheme(before.theme);
    for (const each of document.querySelectorAll("details")) each.open = before.open.includes(each);
    before = null;
    draw();
  });

  // ---- comparison ---------------------------------------------------------------------------
  if (S.comparison && $("votes")) {
    const asked = S.comparison.filter((row) => row.n_clusters !== null);
    const same = asked.filter((row) => row.n_clusters === S.answer.n_clusters).length;
    $("votes").textContent = S.answer.n_clusters === null ? "" :
      `${same} of ${S.comparison.length} criteria say ${S.answer.n_clusters}` +
      (asked.length < S.comparison.length ? `; ${S.comparison.length - asked.length} gave no answer.` : ".");
    for (const row of document.querySelectorAll("#comparison tbody tr[data-n]")) {
      const k = S.candidates.findIndex((c) => (P === "K" ? c.value : c.n_clusters) === Number(row.dataset.n));
      if (k < 0) continue;
      row.addEventListener("mouseenter", () => hover(k));
      row.addEventListener("mouseleave", () => hover(null));
    }
  }

  // ---- start --------------------------------------------------------------------------------
  const LABELS = {
    "plot-scores": "Line chart of the score of each candidate", "plot-frequency": "Bar chart of how often each K is chosen",
    "plot-structure": "Data (diamonds) beside data without clusters (dots): excess stability, and the valley between two halves",
    "plot-between": "Between stability against the noise level", "plot-within": "Within stability against the noise level",
    "plot-stadion": "Stadion against the noise level", "plot-scatter": "Scatter plot of the points, colored by cluster",
    "plot-votes": "Bar chart of how many criteria chose each number of clusters",
  };
  for (const id of charts) {
    $(id).setAttribute("role", "img");
    $(id).setAttribute("aria-label", LABELS[id]);
  }
  refresh();
  for (const id of charts) {
    if (["plot-scatter", "plot-votes", "plot-structure"].includes(id)) continue;
    const at = (event) => event.points.map((p) => p.customdata).find((k) => k !== undefined);
    $(id).on("plotly_hover", (event) => { const k = at(event); if (k !== undefined) hover(k); });
    $(id).on("plotly_unhover", () => hover(null));
    $(id).on("plotly_click", (event) => { const k = at(event); if (k !== undefined) choose(k); });
  }
  root.dataset.ready = "true";
})();
