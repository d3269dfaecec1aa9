// The page of the report: builds its elements from the embedded data, and draws the charts.
//
// Texts of the data become text nodes, never markup. The test of the page reads the attributes data-drawn of panels and
// data-problems of the root.

const drawn = [];

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function themeNow() {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(`--${name}`).trim();
  return {text: value('text'), muted: value('muted'), line: value('line'), card: value('card'), soft: value('soft')};
}

function decode(column) {
  const numeric = Array.isArray(column.numbers);
  return {name: column.name, unit: column.unit, numeric, values: numeric ? column.numbers : column.index.map((i) => column.words[i])};
}

function csvField(value) {
  const text = value === null || value === undefined ? '' : String(value);
  // A text that a spreadsheet would take for a formula is quoted with an apostrophe.
  const safe = typeof value === 'string' && /^[=+\-@\t]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function csvOf(panel) {
  const head = panel.columns.map((column) => csvField(column.unit ? `${column.name} (${column.unit})` : column.name));
  const lines = [head.join(',')];
  for (let row = 0; row < panel.rows; row += 1) {
    lines.push(panel.columns.map((column) => csvField(column.values[row])).join(','));
  }
  return `${lines.join('\r\n')}\r\n`;
}

function saveCsv(panel) {
  const link = element('a', {
    href: URL.createObjectURL(new Blob([csvOf(panel)], {type: 'text/csv'})), download: `${panel.file}.csv`,
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// Without the unit, which the head of the column names; sizes have their own.
function bareText(column, value) {
  if (!column.numeric || value === null) return value ?? '';
  if (column.unit === 'B') return sizeText(value);
  return column.unit === '%' ? percentText(value) : numberText(value);
}

const MOST_ROWS = 1000;

function tableBody(panel, order) {
  const body = element('tbody', {});
  for (const row of order.slice(0, MOST_ROWS)) {
    body.append(element('tr', {}, ...panel.columns.map((column) => {
      const value = column.values[row];
      return element('td', {className: column.numeric ? 'number' : '', textContent: bareText(column, value)});
    })));
  }
  return body;
}

function sortedRows(column, rows, descending) {
  const sign = descending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [column.values[a], column.values[b]];
    if (column.numeric) return sign * ((x ?? Infinity) - (y ?? Infinity));
    return sign * String(x).localeCompare(String(y), 'en', {numeric: true});
  });
}

function tableOf(panel) {
  const rows = Array.from({length: panel.rows}, (_, row) => row);
  const table = element('table', {});
  let body = tableBody(panel, rows);
  const sorting = {column: -1, descending: false};
  const heads = panel.columns.map((column, index) => {
    const head = element('th', {className: column.numeric ? 'number' : '', textContent: column.name, title: 'sort', scope: 'col'});
    if (column.unit && column.unit !== 'B') head.append(element('small', {textContent: column.unit}));
    head.addEventListener('click', () => {
      sorting.descending = sorting.column === index && !sorting.descending;
      sorting.column = index;
      const next = tableBody(panel, sortedRows(column, rows, sorting.descending));
      body.replaceWith(next);
      body = next;
    });
    return head;
  });
  table.append(element('thead', {}, element('tr', {}, ...heads)), body);
  const box = element('div', {className: 'table', tabIndex: 0}, table);
  return panel.rows > MOST_ROWS
      ? [box, element('p', {textContent: `The first ${numberText(MOST_ROWS)} of ${numberText(panel.rows)} rows; the CSV has all.`})]
      : [box];
}

function draw(chart) {
  const width = chart.scroller.clientWidth;
  const made = CHARTS[chart.panel.chart](chart.panel, themeNow(), width);
  if (chart.instance) chart.instance.dispose();
  chart.box.style.height = `${made.height}px`;
  chart.box.style.minWidth = made.minWidth ? `${made.minWidth}px` : '';
  chart.scroller.style.overflowX = made.minWidth > width ? 'auto' : '';
  chart.instance = echarts.init(chart.box, null, {renderer: made.renderer});
  chart.instance.on('finished', () => { chart.element.dataset.drawn = 'yes'; });
  chart.instance.setOption(made.options);
  chart.width = width;
}

function buttonsOf(panel, parent) {
  const buttons = element('div', {className: 'buttons'});
  if (panel.chart !== 'table') {
    let shown = null;
    const toggle = element('button', {type: 'button', textContent: 'Table', title: 'the numbers of this chart'});
    toggle.setAttribute('aria-expanded', 'false');
    toggle.addEventListener('click', () => {
      if (shown) shown.forEach((part) => part.remove());
      shown = shown ? null : tableOf(panel);
      if (shown) parent.append(...shown);
      toggle.setAttribute('aria-expanded', String(Boolean(shown)));
    });
    buttons.append(toggle);
  }
  const csv = element('button', {type: 'button', textContent: 'CSV', title: 'save the numbers as a file'});
  csv.addEventListener('click', () => saveCsv(panel));
  buttons.append(csv);
  return buttons;
}

function panelElement(raw, section, sectionNumber) {
  const panel = {...raw, columns: raw.columns.map(decode)};
  panel.rows = panel.columns.length > 0 ? panel.columns[0].values.length : 0;
  panel.file = `${section.title}-${panel.id}`.replace(/[^\w.-]+/g, '_');
  const made = element('section', {className: `panel${panel.wide ? ' wide' : ''}`, id: `r${sectionNumber}-${panel.id}`});
  made.dataset.chart = panel.chart;
  const head = element('header', {}, element('h2', {textContent: panel.title}));
  if (panel.rows > 0) head.append(buttonsOf(panel, made));
  made.append(head, element('p', {textContent: panel.sentence}));
  if (panel.chart === 'table') {
    if (panel.rows > 30) made.classList.add('long');
    if (panel.rows > 0) made.append(...tableOf(panel));
    made.dataset.drawn = 'yes';
  } else {
    const box = element('div', {className: 'chart', role: 'img', ariaLabel: `${panel.title}. ${panel.sentence}`});
    const scroller = element('div', {}, box);
    made.append(scroller);
    drawn.push({panel, box, scroller, element: made, instance: null, width: 0});
  }
  if (panel.note) made.append(element('p', {className: 'note', textContent: panel.note}));
  return made;
}

function badgeElement([input, level, source]) {
  const badge = element('span', {className: `badge ${level.replace(/[^a-z-]/g, '')}`, title: source ? `${level}: ${source}` : level},
      element('b', {textContent: level}), element('span', {textContent: input}));
  return badge;
}

function commandElement(command) {
  const words = command.map((word) => (/^[\w./:=,@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');
  const copy = element('button', {type: 'button', textContent: 'Copy'});
  copy.addEventListener('click', () => {
    navigator.clipboard?.writeText(words).then(() => { copy.textContent = 'Copied'; }, () => { copy.textContent = 'Not allowed'; });
  });
  return element('p', {className: 'again'}, 'Computed by', element('code', {textContent: words}), copy);
}

function figureElement([name, value, remark]) {
  return element('div', {className: 'figure'}, element('div', {className: 'name', textContent: name}),
      element('div', {className: 'value', textContent: value}), element('div', {className: 'remark', textContent: remark}));
}

function sectionElement(section, number, tool) {
  const made = element('section', {className: 'result', id: `r${number}`});
  made.append(element('p', {className: 'brand', textContent: tool}), element('h1', {textContent: section.title}),
      element('p', {className: 'subtitle', textContent: section.subtitle}));
  made.append(element('div', {className: 'figures'}, ...section.figures.map(figureElement)));
  if (section.sentences.length > 0) {
    made.append(element('ul', {className: 'words'}, ...section.sentences.map((text) => element('li', {textContent: text}))));
  }
  if (section.badges.length > 0) {
    made.append(element('div', {className: 'trust'}, element('span', {className: 'label', textContent: 'Evidence of the inputs'}),
        ...section.badges.map(badgeElement)));
  }
  if (section.command.length > 0) made.append(commandElement(section.command));
  if (section.fingerprint) made.append(element('p', {className: 'fingerprint', textContent: section.fingerprint}));
  const links = section.panels.map((panel) => element('a', {href: `#r${number}-${panel.id}`, textContent: panel.title}));
  if (links.length > 4) made.append(element('nav', {ariaLabel: `panels of ${section.title}`}, ...links));
  made.append(element('div', {className: 'panels'}, ...section.panels.map((panel) => panelElement(panel, section, number))));
  return made;
}

// A chart that fails leaves a line in its place, and the others alone.
function drawOrSay(chart) {
  try {
    draw(chart);
  } catch (error) {
    chart.scroller.replaceChildren(element('p', {className: 'note', textContent: 'This chart could not be drawn; its numbers are below.'}),
        ...tableOf(chart.panel));
    drawn.splice(drawn.indexOf(chart), 1);
    reportError(error);
  }
}

function drawAll() {
  [...drawn].forEach(drawOrSay);
}

function buildPage() {
  const data = JSON.parse(document.getElementById('data').textContent);
  const main = document.getElementById('report');
  if (data.sections.length > 1) {
    main.append(element('nav', {ariaLabel: 'results'},
        ...data.sections.map((section, i) => element('a', {href: `#r${i + 1}`, textContent: section.title}))));
  }
  main.append(...data.sections.map((section, i) => sectionElement(section, i + 1, data.tool)));
  main.append(element('footer', {
    textContent: `Written by ${data.tool}. Charts: Apache ECharts, Copyright The Apache Software Foundation, Apache License 2.0 ` +
        '(ECharts contains zrender, BSD 3-Clause, and tslib, 0BSD).',
  }));
  drawAll();
}

let problems = 0;
window.addEventListener('error', () => {
  problems += 1;
  document.documentElement.dataset.problems = String(problems);
});
document.documentElement.dataset.problems = '0';
buildPage();

const resized = new ResizeObserver((entries) => {
  const scrollers = new Set(entries.map((entry) => entry.target));
  drawn.filter((chart) => scrollers.has(chart.scroller) && chart.scroller.clientWidth !== chart.width).forEach(drawOrSay);
});
drawn.forEach((chart) => resized.observe(chart.scroller));
window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAll);
// Paper is white, and as wide as it is.
window.addEventListener('beforeprint', () => {
  document.documentElement.dataset.paper = 'yes';
  drawAll();
});
window.addEventListener('afterprint', () => {
  delete document.documentElement.dataset.paper;
  drawAll();
});
