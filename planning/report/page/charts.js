// The charts of the report: from a panel (its kind, columns and marks) to the options of an ECharts instance.
'use strict';

const PALETTE = ['#3f7ac8', '#e0813d', '#2f9e77', '#c4508f', '#8a6bd1', '#1e9db3', '#b98d2c', '#7487a0', '#d2545f', '#6f9a3c'];
// One colour for one thing on the whole page.
const COLOURS = {
  'computing': '#3f7ac8', 'waiting for other ranks': '#a3adba', 'step time': '#5b6878', 'wall time': '#5b6878', 'productive': '#3f7ac8',
  'forward': '#6ea2e6', 'backward': '#2f6bb8', 'recompute': '#a9c6ee', 'weight gradients': '#5f86b5',
  'optimizer and others': '#b98d2c',
  'TP communication': '#e0813d', 'PP communication': '#2f9e77', 'DP communication': '#c4508f',
  'EP communication': '#8a6bd1', 'CP communication': '#1e9db3', 'embedding communication': '#b98d2c',
  'MP communication': '#7487a0', 'host communication': '#5d9c9c', 'EDP communication': '#d2545f', 'ETP communication': '#6f9a3c',
  'exposed': '#d2545f', 'hidden behind computing': '#3f7ac8', 'behind other communication': '#a3adba',
  'by arithmetic': '#3f7ac8', 'by memory': '#e0813d', 'by overhead': '#a3adba',
  'no other is faster and smaller': '#d2545f', 'simulated again': '#3f7ac8', 'by formulas': '#a3adba',
  'no other is as good': '#d2545f', 'within the budget': '#3f7ac8', 'over the budget': '#a3adba', 'free hosts': '#a3adba', 'free on hosts in use': '#7487a0',
  'measured': '#e0813d', 'simulated': '#3f7ac8', 'used': '#3f7ac8', 'bubble': '#a3adba', 'combinations': '#3f7ac8',
};
const MOST_RINGS = 60;  // on a line: of more points rings would hide it
const SIZES = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif';

function colourOf(name, position) {
  return Object.hasOwn(COLOURS, name) ? COLOURS[name] : PALETTE[position % PALETTE.length];
}

// Counts whole, other numbers with four digits.
function numberText(value) {
  if (value === null || value === undefined) return '';
  if (Math.abs(value) >= 1000) return value.toLocaleString('en', {maximumFractionDigits: 0});
  return Number.parseFloat(value.toPrecision(4)).toLocaleString('en', {maximumSignificantDigits: 4});
}

function sizeText(bytes) {
  let unit = 0;
  let value = bytes;
  while (Math.abs(value) >= 1023.5 && unit + 1 < SIZES.length) {
    value /= 1024;
    unit += 1;
  }
  return `${numberText(value)} ${SIZES[unit]}`;
}

// Shares to a hundredth: more is noise.
function percentText(value) {
  if (value !== 0 && Math.abs(value) < 0.005) return value < 0 ? '> -0.01' : '< 0.01';
  return Number.parseFloat(value.toFixed(Math.abs(value) < 10 ? 2 : 1)).toLocaleString('en');
}

function cellText(column, value) {
  if (value === null || value === undefined || value === '') return '';
  if (typeof value !== 'number') return value;
  if (column.unit === 'B') return sizeText(value);
  if (column.unit === '%') return `${percentText(value)} %`;
  return column.unit ? `${numberText(value)} ${column.unit}` : numberText(value);
}

function axisTitle(column) {
  return column.unit && column.unit !== 'B' ? `${column.name} (${column.unit})` : column.name;
}

// What the pointer is over: a heading, and a line for each further cell of the row. Built as elements: names are data.
function tipOf(heading, lines) {
  const tip = document.createElement('div');
  tip.className = 'tip';
  const head = document.createElement('b');
  head.textContent = heading;
  tip.append(head);
  for (const [name, text] of lines) {
    if (text === '') continue;
    const line = document.createElement('div');
    for (const part of [name, text]) {
      const cell = document.createElement('span');
      cell.textContent = part;
      line.append(cell);
    }
    tip.append(line);
  }
  return tip;
}

function tipOfRow(panel, row, headColumn) {
  const lines = panel.columns.map((column) => [column.name, cellText(column, column.values[row])]);
  const head = panel.columns[headColumn];
  const heading = head.numeric ? `${head.name} ${cellText(head, head.values[row])}` : head.values[row];
  return tipOf(heading, lines.filter((_, index) => index !== headColumn));
}

// The greatest width of labels in pixels.
function widestLabel(labels, limit) {
  const context = document.createElement('canvas').getContext('2d');
  context.font = `12px ${FONT}`;
  return Math.min(limit, Math.max(20, ...labels.map((label) => context.measureText(label).width)) + 4);
}

function unique(values) {
  return [...new Set(values)];
}

function baseOptions(theme) {
  return {
    animation: false,
    textStyle: {fontFamily: FONT, color: theme.text},
    color: PALETTE,
    tooltip: {
      confine: true, backgroundColor: theme.card, borderColor: theme.line, padding: 10, textStyle: {color: theme.text},
      extraCssText: 'max-width: 380px; box-shadow: 0 4px 18px rgb(0 0 0 / 18%);',
    },
  };
}

function valueAxis(theme, title, more) {
  return {
    type: 'value', name: title, nameLocation: 'middle', nameGap: 30, nameTextStyle: {color: theme.muted, fontSize: 12},
    axisLabel: {color: theme.muted, fontSize: 12, hideOverlap: true, formatter: numberText}, axisLine: {show: false},
    axisTick: {show: false}, splitLine: {lineStyle: {color: theme.line}}, ...more,
  };
}

function categoryAxis(theme, labels, width, more) {
  return {
    type: 'category', data: labels, inverse: true, axisTick: {show: false}, axisLine: {lineStyle: {color: theme.line}},
    axisLabel: {color: theme.text, fontSize: 12, width, overflow: 'truncate', interval: 0}, ...more,
  };
}

function legendOf(theme, names, more) {
  return {
    type: 'plain', data: names, top: 0, left: 0, itemWidth: 12, itemHeight: 12, itemGap: 14, icon: 'roundRect',
    textStyle: {color: theme.text, fontSize: 12}, inactiveColor: theme.line, ...more,
  };
}

// Lines that a legend takes in this width.
function legendHeight(names, width) {
  let lines = 1;
  let used = 0;
  for (const name of names) {
    const needed = widestLabel([name], 1000) + 32;
    if (used > 0 && used + needed > width) {
      lines += 1;
      used = 0;
    }
    used += needed;
  }
  return names.length > 1 ? lines * 22 + 6 : 0;
}

function waterfallChart(panel, theme, width) {
  const [names, values, ...others] = panel.columns;
  const total = values.values.reduce((sum, value) => sum + (value ?? 0), 0);
  const labels = [...names.values, panel.total];
  const lengths = [...values.values, total];
  let start = 0;
  const offsets = lengths.map((length, row) => {
    const offset = row + 1 === lengths.length ? 0 : start;
    start += length ?? 0;
    return offset;
  });
  const left = widestLabel(labels, width * 0.42);
  const share = others.find((column) => column.unit === '%');
  const text = (row) => `${numberText(lengths[row])} ${values.unit}` +
      (share && row < share.values.length ? `, ${cellText(share, share.values[row])}` : '');
  const tip = (row) => (row < names.values.length ? tipOfRow(panel, row, 0) : tipOf(panel.total, [['time', text(row)]]));
  return {
    height: labels.length * 32 + 60,
    renderer: 'svg',
    options: {
      ...baseOptions(theme),
      grid: {left: left + 12, right: 24, top: 4, bottom: 48, outerBoundsMode: 'none'},
      xAxis: valueAxis(theme, axisTitle(values), {max: total}),
      yAxis: categoryAxis(theme, labels, left),
      tooltip: {...baseOptions(theme).tooltip, trigger: 'item', formatter: (item) => tip(item.dataIndex)},
      series: [
        {type: 'bar', stack: 'time', silent: true, data: offsets, itemStyle: {color: 'transparent'}, barWidth: '64%'},
        {
          type: 'bar', stack: 'time', barWidth: '64%', barMinHeight: 2,
          data: lengths.map((value, row) => ({
            value, itemStyle: {color: colourOf(labels[row], row), borderRadius: 3},
            // Outside the bar where there is room for it.
            label: {
              show: true, position: offsets[row] + value > total * 0.62 ? (value > total * 0.45 ? 'insideRight' : 'left') : 'right',
              color: value > total * 0.45 && offsets[row] + value > total * 0.62 ? '#ffffff' : theme.text, fontSize: 12,
              formatter: text(row),
            },
          })),
        },
      ],
    },
  };
}

// From the first total to the last, by signed changes.
function changesChart(panel, theme, width) {
  const [names, values, share] = panel.columns;
  const last = values.values.length - 1;
  const isTotal = (row) => row === 0 || row === last;
  let level = 0;
  const spans = values.values.map((value, row) => {
    const from = isTotal(row) ? 0 : level;
    level = isTotal(row) ? value ?? 0 : level + (value ?? 0);
    return [Math.min(from, level), Math.max(from, level)];
  });
  const least = Math.min(...spans.slice(1, last).map((span) => span[0]), values.values[0], values.values[last]);
  const most = Math.max(...spans.map((span) => span[1]));
  // Small changes of a long step: the axis begins near them, and says so.
  const start = most - least < 0.25 * most ? Math.max(0, least - 0.6 * (most - least)) : 0;
  const left = widestLabel(names.values, width * 0.42);
  const text = (row) => {
    const value = values.values[row];
    if (isTotal(row)) return cellText(values, value);
    if (Math.abs(value) < 1e-5 * most) return '';
    return `${value > 0 ? '+' : ''}${cellText(values, value)}` + (share ? `, ${cellText(share, share.values[row])}` : '');
  };
  const colour = (row) => (isTotal(row) ? COLOURS['step time'] : values.values[row] > 0 ? COLOURS.exposed : '#2f9e77');
  return {
    height: names.values.length * 30 + 60,
    renderer: 'svg',
    options: {
      ...baseOptions(theme),
      grid: {left: left + 12, right: 24, top: 4, bottom: 48, outerBoundsMode: 'none'},
      xAxis: valueAxis(theme, axisTitle(values) + (start > 0 ? ', from above zero' : ''), {min: start, max: most}),
      yAxis: categoryAxis(theme, names.values, left),
      tooltip: {...baseOptions(theme).tooltip, trigger: 'item', formatter: (item) => tipOfRow(panel, item.dataIndex, 0)},
      series: [
        {type: 'bar', stack: 'change', silent: true, data: spans.map((span) => Math.max(span[0], start)), itemStyle: {color: 'transparent'}, barWidth: '64%'},
        {
          type: 'bar', stack: 'change', barWidth: '64%', barMinHeight: 2,
          data: spans.map((span, row) => ({
            value: span[1] - Math.max(span[0], start), itemStyle: {color: colour(row), borderRadius: 3},
            label: {
              show: true, position: span[1] > start + 0.7 * (most - start) ? (isTotal(row) ? 'insideRight' : 'left') : 'right',
              color: isTotal(row) && span[1] > start + 0.7 * (most - start) ? '#ffffff' : theme.text, fontSize: 12, formatter: text(row),
            },
          })),
        },
      ],
    },
  };
}

function tornadoChart(panel, theme, width) {
  const [names, low, high] = panel.columns;
  const left = widestLabel(names.values, width * 0.42);
  const legend = [low.name, high.name];
  const top = legendHeight(legend, width);
  const series = [low, high].map((column, position) => ({
    name: column.name, type: 'bar', data: column.values, barWidth: '62%', barGap: '-100%',
    itemStyle: {color: ['#e0813d', '#3f7ac8'][position], opacity: 0.9},
  }));
  return {
    height: names.values.length * 22 + top + 56,
    renderer: 'svg',
    options: {
      ...baseOptions(theme),
      legend: legendOf(theme, legend, {width}),
      grid: {left: left + 12, right: 24, top: top + 4, bottom: 48, outerBoundsMode: 'none'},
      xAxis: valueAxis(theme, `change of the step time (${low.unit})`, {}),
      yAxis: categoryAxis(theme, names.values, left, {axisLine: {onZero: false, lineStyle: {color: theme.line}}}),
      tooltip: {...baseOptions(theme).tooltip, trigger: 'item', formatter: (item) => tipOfRow(panel, item.dataIndex, 0)},
      series,
    },
  };
}

function sumTitle(unit) {
  if (['days', 'h', 'min', 's', 'ms', 'us'].includes(unit)) return `time (${unit})`;
  return unit.endsWith('B') ? `memory (${unit})` : unit;
}

function barsChart(panel, theme, width) {
  const [names, first] = panel.columns;
  const parts = panel.columns.slice(1).filter((column) => column.values.length > 0 && column.numeric && column.unit === first.unit);
  const single = first.unit === '' || first.unit === '%' || parts.length === 1;
  const shown = single ? [first] : parts;
  const labels = names.values;
  const left = widestLabel(labels, width * 0.42);
  const legend = single ? [] : shown.map((column) => column.name);
  const top = legendHeight(legend, width);
  const row = labels.length > 32 ? 16 : labels.length > 12 ? 22 : 28;
  const level = panel.marks.find((mark) => mark.kind === 'level');
  const series = shown.map((column, position) => ({
    name: column.name, type: 'bar', stack: 'all', barWidth: '68%',
    data: column.values.map((value) => (value < 0 ? {value, label: {position: 'left'}} : value)),
    itemStyle: {color: colourOf(column.name, position), borderRadius: single ? 3 : 0},
    label: {
      show: single, position: 'right', color: theme.text, fontSize: 12,
      formatter: (item) => cellText(column, item.value),
    },
  }));
  if (level && series.length > 0) {
    series[0].markLine = {
      silent: true, symbol: 'none', data: [{xAxis: level.value}], lineStyle: {color: COLOURS.exposed, width: 2, type: 'dashed'},
      label: {color: theme.text, formatter: `${level.name} ${numberText(level.value)} ${first.unit}`, position: 'start', distance: 6, fontSize: 12, align: 'right', offset: [4, 0]},
    };
  }
  const sums = labels.map((_, index) => shown.reduce((sum, column) => sum + (column.values[index] ?? 0), 0));
  const most = Math.max(...sums, level ? level.value : 0);
  const least = Math.min(0, ...sums);
  // Parts below zero that cannot be seen do not move the axis.
  const below = labels.map((_, index) => shown.reduce((sum, column) => sum + Math.min(0, column.values[index] ?? 0), 0));
  const hidden = !single && Math.min(0, ...below) > -0.005 * most;
  const room = least < 0 ? {min: least - 0.14 * (most - least)} : {...(hidden ? {min: 0} : {}), ...(/^% /.test(first.unit) && most < 100.01 ? {max: 100} : {})};
  const right = single ? Math.max(62, 18 + widestLabel(first.values.map((value) => cellText(first, value)), width * 0.3)) : 26;
  return {
    height: labels.length * row + top + (level ? 22 : 4) + 56,
    renderer: 'svg',
    options: {
      ...baseOptions(theme),
      legend: legendOf(theme, legend, {show: legend.length > 1, width: width}),
      grid: {left: left + 12, right, top: top + (level ? 22 : 4), bottom: 48, outerBoundsMode: 'none'},
      xAxis: valueAxis(theme, single ? axisTitle(first) : sumTitle(first.unit), level ? {max: Math.max(most * 1.02, level.value * 1.02)} : room),
      yAxis: categoryAxis(theme, labels, left, {axisLine: {onZero: false, lineStyle: {color: theme.line}}}),
      tooltip: {...baseOptions(theme).tooltip, trigger: 'item', formatter: (item) => tipOfRow(panel, item.dataIndex, 0)},
      series,
    },
  };
}

function scaledAxis(theme, column, log, more) {
  const format = column.unit === 'B' ? sizeText : numberText;
  const base = valueAxis(theme, axisTitle(column), {scale: true, ...more});
  base.axisLabel.formatter = format;
  if (!log) return base;
  const known = column.values.filter((value) => value > 0);
  const logBase = column.unit === 'B' ? 2 : 10;
  // Sizes from the first to the last; other numbers with room around them.
  const edge = logBase === 2 ? {min: Math.min(...known), max: Math.max(...known)} : {};
  return known.length > 0 ? {...base, type: 'log', logBase, ...edge} : base;
}

// Of the longest number at an axis: about that of its largest value.
function labelWidth(column) {
  const most = column.values.reduce((largest, value) => Math.max(largest, Math.abs(value ?? 0)), 0);
  const text = column.unit === 'B' ? sizeText : (value) => numberText(10 ** Math.ceil(Math.log10(value)));
  return most > 1 ? widestLabel([text(most)], 120) : 30;
}

// Rows of each series, in the order of first appearance.
function seriesRows(column) {
  const rows = new Map();
  column.values.forEach((name, row) => {
    if (!rows.has(name)) rows.set(name, []);
    rows.get(name).push(row);
  });
  return rows;
}

// Marks as line series: diagonals from one side to the other, below a level where there is one.
function markSeries(panel, theme) {
  const xs = panel.columns[1].values.filter((x) => x > 0 || (x === 0 && !panel.xlog));
  const ys = panel.columns[2].values.filter((y) => y > 0);
  const level = panel.marks.find((mark) => mark.kind === 'level');
  // On a scale of numbers a level ends where the values do.
  const room = panel.xlog || panel.marks.some((mark) => mark.kind === 'diagonal') ? 1.3 : 1;
  const low = Math.min(...xs, ...(level ? [] : ys));
  let high = Math.max(...xs, ...(level ? [] : ys));
  return panel.marks.map((mark) => {
    const diagonal = mark.kind === 'diagonal';
    let from = low / room;
    let to = high * room;
    const slope = panel.marks.find((other) => other.kind === 'diagonal');
    if (level && slope) {
      const ridge = level.value / slope.value;
      high = Math.max(high, ridge * 2);
      to = diagonal ? ridge : high * 1.3;
      from = diagonal ? Math.min(low / 1.3, ridge / 4) : ridge;
    }
    const value = (x) => (diagonal ? mark.value * x : mark.value);
    const main = diagonal ? mark.value === 1 || level : true;
    return {
      type: 'line', name: mark.name, silent: true, symbol: 'none', data: [[from, value(from)], [to, value(to)]],
      lineStyle: {color: theme.muted, width: main ? 1.5 : 1, type: main ? 'solid' : 'dashed'},
      endLabel: {show: !diagonal, formatter: mark.name, color: theme.muted, fontSize: 11, align: 'right', offset: [0, -9]},
    };
  });
}

function pointsChart(panel, theme, width) {
  const [names, x, y] = panel.columns;
  const rows = seriesRows(names);
  const legend = [...rows.keys()];
  const top = legendHeight(legend, width);
  // A column of times makes the area of a point proportional to its time.
  const weight = panel.chart === 'points' ? panel.columns.find((column) => column.name === 'time per step') : null;
  const heaviest = weight ? weight.values.reduce((most, value) => Math.max(most, value ?? 0), 0) : 0;
  const series = [...rows].map(([name, members], position) => {
    const drawnAsLine = panel.chart === 'lines' && !panel.points.includes(name);
    return {
      name, type: drawnAsLine ? 'line' : 'scatter', symbol: drawnAsLine && members.length <= MOST_RINGS ? 'emptyCircle' : 'circle',
      symbolSize: heaviest > 0 ? (value) => 5 + 24 * Math.sqrt((weight.values[value[2]] ?? 0) / heaviest) : drawnAsLine ? (members.length <= MOST_RINGS ? 5 : 3) : members.length > 400 ? 5 : 8,
      data: members.map((row) => [x.values[row], y.values[row], row]), connectNulls: false, z: drawnAsLine ? 2 : 3,
      itemStyle: {color: colourOf(name, position), opacity: drawnAsLine ? 1 : 0.82}, lineStyle: {width: 2.2, color: colourOf(name, position)},
    };
  });
  const gap = Math.max(52, 14 + labelWidth(y));
  return {
    height: (panel.wide ? 340 : 300) + top,
    renderer: 'svg',
    options: {
      ...baseOptions(theme),
      legend: legendOf(theme, legend, {show: legend.length > 1, width}),
      grid: {left: gap + 22, right: Math.max(26, 8 + labelWidth(x) / 2), top: top + 14, bottom: 52, outerBoundsMode: 'none'},
      xAxis: scaledAxis(theme, x, panel.xlog, panel.chart === 'lines' && x.name === 'time' && !panel.xlog ? {max: 'dataMax'} : {}),
      yAxis: scaledAxis(theme, y, panel.ylog, {nameGap: gap}),
      tooltip: {...baseOptions(theme).tooltip, trigger: 'item', formatter: (item) => tipOfRow(panel, item.value[2], 0)},
      series: [...series, ...(panel.marks.length > 0 ? markSeries(panel, theme) : [])],
    },
  };
}

// "32.8K": the pointer shows all digits.
function shortCount(value) {
  return value < 10000 ? numberText(value) : value.toLocaleString('en', {notation: 'compact', maximumFractionDigits: 1});
}

function heatMapChart(panel, theme, width) {
  const [x, y, count] = panel.columns;
  const across = unique(x.values);
  const down = unique(y.values);
  const sums = new Map(down.map((name) => [name, 0]));
  y.values.forEach((name, row) => sums.set(name, sums.get(name) + (count.values[row] ?? 0)));
  const left = widestLabel(down, width * 0.34);
  const narrow = width < 560;
  // The colour is the share of the row, since rows differ in their number of links.
  const data = x.values.map((name, row) => {
    const share = (count.values[row] ?? 0) / (sums.get(y.values[row]) || 1);
    return {value: [across.indexOf(name), down.indexOf(y.values[row]), share, row], label: {color: share > 0.25 ? '#ffffff' : theme.text}};
  });
  return {
    height: down.length * 38 + (narrow ? 84 : 56),
    renderer: 'svg',
    options: {
      ...baseOptions(theme),
      grid: {left: left + 12, right: 10, top: 6, bottom: narrow ? 78 : 50, outerBoundsMode: 'none'},
      xAxis: {
        ...valueAxis(theme, 'share of its capacity that a link carries'), type: 'category', data: across, splitLine: {show: false}, nameGap: narrow ? 58 : 30,
        axisLabel: {color: theme.muted, fontSize: 11, interval: 0, rotate: narrow ? 60 : 0, formatter: (label) => label.replace(' to ', '-')},
      },
      yAxis: categoryAxis(theme, down, left),
      visualMap: {show: false, type: 'continuous', min: 0, max: 1, dimension: 2, inRange: {color: [theme.soft, '#8fb6e8', '#3f7ac8', '#2a5796']}},
      tooltip: {...baseOptions(theme).tooltip, formatter: (item) => tipOfRow(panel, item.value[3], 1)},
      series: [{
        type: 'heatmap', data, itemStyle: {borderColor: theme.card, borderWidth: 2, borderRadius: 4},
        label: {
          show: true, fontSize: 11, formatter: (item) => (count.values[item.value[3]] > 0 ? shortCount(count.values[item.value[3]]) : ''),
        },
      }],
    },
  };
}

// The share of time or capacity by row and time: a colour for each cell, from nothing to the largest share.
function timeMapChart(panel, theme, width) {
  const [names, starts, ends, share] = panel.columns;
  const rows = unique(names.values);
  const place = new Map(rows.map((name, row) => [name, row]));
  const times = unique(starts.values);
  const column = new Map(times.map((time, index) => [time, index]));
  const left = widestLabel(rows, width * 0.34);
  const most = share.values.reduce((largest, value) => Math.max(largest, value ?? 0), 0) || 1;
  const band = rows.length > 8 ? 22 : 34;
  return {
    height: rows.length * band + 104,
    renderer: 'canvas',
    options: {
      ...baseOptions(theme),
      grid: {left: left + 12, right: 22, top: 44, bottom: 50, outerBoundsMode: 'none'},
      xAxis: {
        ...valueAxis(theme, `time from the start of the step (${starts.unit})`), type: 'category', data: times, splitLine: {show: false},
        axisLabel: {color: theme.muted, fontSize: 11, hideOverlap: true, formatter: (label) => numberText(Number(label))},
      },
      yAxis: categoryAxis(theme, rows, left),
      visualMap: {
        type: 'continuous', min: 0, max: most, dimension: 2, orient: 'horizontal', left: left + 12, top: 0, itemWidth: 12, itemHeight: 120,
        text: [`${percentText(most)} %`, '0'], textStyle: {color: theme.text, fontSize: 12}, calculable: false,
        inRange: {color: [theme.soft, '#8fb6e8', '#3f7ac8', '#b98d2c', '#d2545f']},
      },
      tooltip: {...baseOptions(theme).tooltip, formatter: (item) => tipOfRow(panel, item.value[3], 0)},
      series: [{
        type: 'heatmap', progressive: 0, itemStyle: {borderWidth: 0},
        data: names.values.map((name, row) => [column.get(starts.values[row]), place.get(name), share.values[row], row]),
      }],
    },
  };
}

function parallelChart(panel, theme, width) {
  const first = panel.columns[0];
  const axes = panel.columns.map((column, dim) => {
    const labels = column.numeric ? [] : unique(column.values).sort((a, b) => a.localeCompare(b, 'en', {numeric: true}));
    const look = {
      dim, name: axisTitle(column), nameTextStyle: {color: theme.text, fontSize: 12}, axisLine: {lineStyle: {color: theme.muted}},
      axisLabel: {color: theme.text, fontSize: 11, backgroundColor: theme.card, padding: [1, 3], borderRadius: 3}, axisTick: {show: false},
      nameGap: 14,
    };
    if (!column.numeric) return {...look, type: 'category', data: labels};
    look.axisLabel.formatter = numberText;
    return {...look, type: 'value', scale: true};
  });
  const known = first.values.filter((value) => value !== null);
  const sorted = [...known].sort((a, b) => a - b);
  return {
    height: 360,
    renderer: 'svg',
    minWidth: panel.columns.length * 84,
    options: {
      ...baseOptions(theme),
      parallel: {left: 50, right: 60, top: 34, bottom: 16},
      parallelAxis: axes,
      visualMap: {
        show: false, type: 'continuous', dimension: 0, min: sorted[0] ?? 0, max: sorted[sorted.length - 1] ?? 1,
        inRange: {color: ['#1f9d7a', '#3f7ac8', '#8a6bd1', '#d2545f']},
      },
      tooltip: {...baseOptions(theme).tooltip, formatter: (item) => tipOfRow(panel, item.dataIndex, 0)},
      series: [{
        type: 'parallel', lineStyle: {width: known.length > 100 ? 1 : 1.6, opacity: known.length > 100 ? 0.45 : 0.75}, smooth: false,
        data: first.values.map((_, row) => panel.columns.map((column) => column.values[row])),
      }],
    },
  };
}

function ganttChart(panel, theme, width) {
  const [rowNames, kinds, tasks, starts, ends] = panel.columns;
  const rows = unique(rowNames.values);
  const members = seriesRows(kinds);
  const legend = [...members.keys()];
  const top = legendHeight(legend, width);
  const left = widestLabel(rows, width * 0.25);
  const band = rows.length > 32 ? 18 : rows.length > 16 ? 28 : rows.length > 2 ? 40 : 64;
  const lanes = legend.filter((kind) => kind.endsWith('communication'));
  const place = new Map(rows.map((name, row) => [name, row]));
  // Computing above; below it a lane for each kind of communication, since these overlap.
  const draw = (kind, colour) => {
    const lane = lanes.indexOf(kind);
    const top = lane < 0 ? -0.46 : 0.07 + (0.38 * lane) / lanes.length;
    const share = lane < 0 ? 0.5 : 0.38 / lanes.length;
    return (params, api) => {
      const row = api.value(0);
      const from = api.coord([api.value(1), row]);
      const to = api.coord([api.value(2), row]);
      const high = api.size([0, 1])[1];
      const edge = from[1] + high * top;
      const area = params.coordSys;
      const begin = Math.max(from[0], area.x);
      const end = Math.min(to[0], area.x + area.width);
      if (end < begin) return null;
      return {
        type: 'rect', shape: {x: begin, y: edge, width: Math.max(end - begin, 0.6), height: Math.max(high * share - (lane < 0 ? 0 : 0.6), 1)},
        style: {fill: colour, stroke: lane < 0 && end - begin > 5 ? theme.card : null, lineWidth: 0.6},
      };
    };
  };
  const tip = (row) => tipOf(`${rowNames.values[row]}: ${tasks.values[row]}`, [
    ['kind', kinds.values[row]], ['start', cellText(starts, starts.values[row])], ['end', cellText(ends, ends.values[row])],
    ['takes', cellText(ends, ends.values[row] - starts.values[row])],
    ...panel.columns.slice(5).map((column) => [column.name, column.values[row] ? cellText(column, column.values[row]) : '']),
  ]);
  return {
    height: rows.length * band + top + 108,
    renderer: 'canvas',
    options: {
      ...baseOptions(theme),
      legend: legendOf(theme, legend, {width}),
      grid: {left: left + 12, right: 30, top: top + 4, bottom: 92, outerBoundsMode: 'none'},
      xAxis: valueAxis(theme, `time from the start of the step (${starts.unit})`, {min: 0, max: ends.values.reduce((a, b) => Math.max(a, b), 0)}),
      yAxis: categoryAxis(theme, rows, left, {splitLine: {show: true, lineStyle: {color: theme.line}}}),
      dataZoom: [
        {type: 'inside', filterMode: 'weakFilter', xAxisIndex: 0, zoomOnMouseWheel: 'ctrl', moveOnMouseMove: true},
        {
          type: 'slider', filterMode: 'weakFilter', xAxisIndex: 0, bottom: 10, height: 22, showDataShadow: false, brushSelect: false,
          borderColor: theme.line, fillerColor: 'rgb(63 122 200 / 18%)', textStyle: {color: theme.muted}, labelFormatter: numberText,
        },
      ],
      tooltip: {...baseOptions(theme).tooltip, formatter: (item) => tip(item.value[3])},
      series: legend.map((kind, position) => ({
        name: kind, type: 'custom', clip: true, itemStyle: {color: colourOf(kind, position)},
        renderItem: draw(kind, colourOf(kind, position)), encode: {x: [1, 2], y: 0}, progressive: 0,
        data: members.get(kind).map((row) => [place.get(rowNames.values[row]), starts.values[row], ends.values[row], row]),
      })),
    },
  };
}

const CHARTS = {
  waterfall: waterfallChart, changes: changesChart, bars: barsChart, tornado: tornadoChart, lines: pointsChart, points: pointsChart, heatmap: heatMapChart, timemap: timeMapChart,
  parallel: parallelChart, gantt: ganttChart,
};
