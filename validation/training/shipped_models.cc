#include "validation/training/shipped_models.h"

#include <cctype>
#include <map>
#include <string>
#include <string_view>

#include "configs/scenario/catalogue.h"
#include "configs/scenario/scenario.h"
#include "core/config/config_document.h"

namespace ringwright::validation {
namespace {

// "GPT-3 175B" is gpt3-175b, "Llama 3.1 405B" is llama3.1-405b.
std::string letters(std::string_view name) {
  std::string result;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '.') result += static_cast<char>(std::tolower(byte));
  }
  return result;
}

}  // namespace

void take_shipped_models(std::span<TrainingRow> rows) {
  const LoadOptions options = configs::load_options({});
  std::map<std::string, std::string> names;
  for (const std::string& name : preset_names(options, "models")) names.emplace(letters(name), name);
  for (TrainingRow& row : rows) {
    const auto found = names.find(letters(row.model));
    if (found == names.end()) continue;
    row.shipped_model = found->second;
    if (row.layers || row.hidden) continue;
    auto model = ConfigDocument::load(configs::shipped_path(options, "models", row.shipped_model), options);
    if (!model) continue;
    ConfigMap root = model->root();
    row.layers = root.integer({.name = "num_layers", .doc = "transformer layers", .min = 1});
  }
}

}  // namespace ringwright::validation
