// The parts of Apache ECharts that the panels of the report use.
import { init, use } from 'echarts/core';
import { BarChart, CustomChart, HeatmapChart, LineChart, ParallelChart, ScatterChart } from 'echarts/charts';
import {
  DataZoomComponent, GridComponent, LegendComponent, MarkLineComponent, ParallelComponent, TooltipComponent,
  VisualMapContinuousComponent,
} from 'echarts/components';
import { CanvasRenderer, SVGRenderer } from 'echarts/renderers';

use([
  BarChart, CustomChart, HeatmapChart, LineChart, ParallelChart, ScatterChart, DataZoomComponent, GridComponent,
  LegendComponent, MarkLineComponent, ParallelComponent, TooltipComponent, VisualMapContinuousComponent,
  CanvasRenderer, SVGRenderer,
]);

export { init };
