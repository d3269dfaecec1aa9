#include "configs/scenario/nccl_tables_page.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "collectives/nccl/tables/tables.h"
#include "configs/scenario/scenario.h"
#include "core/config/config_document.h"

namespace ringwright::configs {
namespace {

// The sources of the files, each once, in the order in which values name them.
std::vector<std::string> sources_of(const std::vector<ValueRead>& values) {
  std::vector<std::string> sources;
  for (const ValueRead& value : values) {
    if (!value.source.empty() && std::ranges::find(sources, value.source) == sources.end()) {
      sources.push_back(value.source);
    }
  }
  return sources;
}

std::string page_of(ConfigDocument& document, std::string_view word) {
  static_cast<void>(collectives::read_nccl_tables(document.root()));
  const std::vector<ValueRead>& values = document.log().values();
  const std::vector<std::string> sources = sources_of(values);
  std::size_t path_width = 0;
  std::size_t text_width = 0;
  for (const ValueRead& value : values) {
    path_width = std::max(path_width, value.path.size());
    text_width = std::max(text_width, std::min<std::size_t>(value.text.size(), 40));
  }
  std::string page = fmt::format("{}: the cost model by which this version chooses algorithm and protocol\n", word);
  for (std::size_t i = 0; i < sources.size(); ++i) page += fmt::format("  [{}] {}\n", i + 1, sources[i]);
  for (const ValueRead& value : values) {
    const auto source = std::ranges::find(sources, value.source);
    const std::string mark = source == sources.end() ? "" : fmt::format("  [{}]", source - sources.begin() + 1);
    const std::string origin = std::filesystem::path(value.origin).filename().string();
    page += fmt::format("  {:<{}}  {:<{}}  {}{}\n", value.path, path_width, value.text, text_width, origin, mark);
  }
  return page;
}

}  // namespace

std::string nccl_tables_page(std::string_view word) {
  constexpr std::string_view kPrefix = "nccl-";
  if (word != "rccl" && !word.starts_with(kPrefix)) return {};
  const std::string file = std::string(word == "rccl" ? word : word.substr(kPrefix.size())) + ".yaml";
  if (file.find('/') != std::string::npos) return {};
  for (const std::string& share : load_options({}).share_folders) {
    const std::filesystem::path path = std::filesystem::path(share) / "nccl" / file;
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) continue;
    auto document = ConfigDocument::load(path.string());
    if (document) return page_of(*document, word);
  }
  return {};
}

std::vector<std::string> nccl_table_names() {
  std::vector<std::string> names;
  for (const std::string& name : preset_names(load_options({}), "nccl")) {
    names.push_back(name == "rccl" ? name : "nccl-" + name);
  }
  return names;
}

}  // namespace ringwright::configs
