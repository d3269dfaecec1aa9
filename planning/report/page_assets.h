// The parts of the page that are the same for every report, from the folder `page`, in the binary.
#pragma once

#include <string_view>

namespace ringwright::planning {

[[nodiscard]] std::string_view page_style();    // page.css
[[nodiscard]] std::string_view page_charts();   // charts.js: options of the charts
[[nodiscard]] std::string_view page_script();   // page.js: the elements of the page
[[nodiscard]] std::string_view page_library();  // echarts.min.js

}  // namespace ringwright::planning
