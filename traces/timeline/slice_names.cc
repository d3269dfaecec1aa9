#include "traces/timeline/slice_names.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace ringwright::traces {

std::string task_name(const TaskGraph& graph, const Task& task) {
  std::string name = task.label < graph.labels.size() ? graph.labels[task.label] : "";
  const auto append = [&name](std::string_view text) {
    if (!name.empty()) name += ' ';
    name += text;
  };
  const auto dimension = [&] { return graph.dimensions[task.dimension.index()].name; };
  switch (task.kind) {
    case TaskKind::kCompute:
      if (task.detail < graph.works.size()) {
        const std::string& work = graph.works[task.detail].name;
        if (name != work && !work.empty()) append(work);
      }
      break;
    case TaskKind::kCollective:
      append(fmt::format("{} {}", dimension(), to_string(graph.collectives[task.detail].kind)));
      break;
    case TaskKind::kSend: append(dimension() + " send"); break;
    case TaskKind::kReceive: append(dimension() + " receive"); break;
    case TaskKind::kSegment: break;
  }
  return name;
}

std::optional<PassLabel> pass_of(std::string_view name) {
  const std::string_view label = name.substr(0, name.find(' '));
  if (label.size() < 2 || label.size() == name.size() || label.front() < 'A' || label.front() > 'Z') {
    return std::nullopt;
  }
  const std::string_view number = label.substr(1);
  if (std::isdigit(static_cast<unsigned char>(number.front())) == 0) return std::nullopt;
  const std::size_t point = number.find('.');
  return PassLabel{.direction = label.front(),
                   .microbatch = std::string(number.substr(0, point)),
                   .chunk = point == std::string_view::npos ? "" : std::string(number.substr(point + 1))};
}

std::string call_label(const std::string& name) {
  const std::size_t operation = name.find_last_of(' ');
  if (operation == std::string::npos || operation == 0) return name;
  const std::size_t dimension = name.find_last_of(' ', operation - 1);
  if (dimension == std::string::npos || dimension == 0) return name;
  const bool is_pass = pass_of(name) && name.find(' ') == dimension;
  return is_pass ? name.substr(dimension + 1) : name.substr(0, dimension);
}

std::string communication_kind(const std::string& name) {
  const std::size_t operation = name.find_last_of(' ');
  if (operation == std::string::npos || operation == 0) return "communication";
  const std::size_t before = name.find_last_of(' ', operation - 1);
  std::string dimension =
      before == std::string::npos ? name.substr(0, operation) : name.substr(before + 1, operation - before - 1);
  if (dimension.size() <= 3) {
    std::ranges::transform(dimension, dimension.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  }
  return dimension + " communication";
}

}  // namespace ringwright::traces
