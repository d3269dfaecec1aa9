#include "validation/training/recipe_columns.h"

#include <algorithm>
#include <array>

namespace ringwright::validation {
namespace {

constexpr std::string_view kNewest = "recipe_";
constexpr std::string_view kOfRelease = "tag_";
// Columns that compare a recipe with its row, or say where it comes from.
constexpr std::array<std::string_view, 8> kOfComparison = {"match",         "match_detail",     "release_vs_recipe",
                                                           "tag_match",     "tag_match_detail", "tag_tag",
                                                           "recipe_source", "tag_source"};

std::string_view cell_of(const CsvTable& table, const CsvRow& row, std::string_view name) {
  const auto at = table.find_column(name);
  return at ? std::string_view(row.cells[*at].text) : std::string_view();
}

bool compares(std::string_view name) {
  return std::ranges::find(kOfComparison, name) != kOfComparison.end();
}

}  // namespace

bool is_recipe_column(std::string_view name) {
  return name.starts_with(kNewest) || name.starts_with(kOfRelease) || compares(name);
}

std::string recipe_of(const CsvTable& table, const CsvRow& row) {
  const bool released = !cell_of(table, row, "tag_model").empty();
  const bool newest = cell_of(table, row, "tag_match").starts_with("use HEAD");
  if (!released && !newest) return {};
  const std::string_view prefix = released ? kOfRelease : kNewest;
  std::string text;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const std::string_view name = table.columns[i];
    if (!name.starts_with(prefix) || compares(name) || row.cells[i].text.empty()) continue;
    if (!text.empty()) text += "; ";
    text.append(name.substr(prefix.size())).append("=").append(row.cells[i].text);
  }
  return text;
}

std::string recompute_of(std::string_view recipe) {
  if (recipe.empty()) return {};
  constexpr std::string_view kModules = "recompute_modules=";
  const std::size_t at = recipe.find(kModules);
  if (at == std::string_view::npos) return "none";
  const std::string_view value = recipe.substr(at + kModules.size());
  const std::string_view modules = value.substr(0, value.find(';'));
  return modules == "[]" ? "none" : "selective: " + std::string(modules);
}

}  // namespace ringwright::validation
