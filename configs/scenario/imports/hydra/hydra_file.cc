#include "configs/scenario/imports/hydra/hydra_file.h"

#include <algorithm>
#include <array>
#include <string>

#include "configs/scenario/imports/hydra/bridge_file.h"
#include "configs/scenario/imports/hydra/interpolation.h"
#include "configs/scenario/imports/hydra/nemo_file.h"
#include "configs/scenario/imports/hydra/recipe_file.h"
#include "core/config/yaml_reader.h"

namespace ringwright::configs {
namespace {

constexpr std::string_view kContainer = "_target_: megatron.bridge.training.config.ConfigContainer";

// Of the lines at the margin.
constexpr auto kMarginWords =
    std::to_array<std::string_view>({"model:", "trainer:", "ConfigContainer:", "train:", "ddp:", "mixed_precision:",
                                     "comm_overlap:", "model_config:", "train_config:", "ddp_config:", kContainer});

constexpr std::array<std::string_view, 5> kNemoNames{"encoder_seq_length", "micro_batch_size", "global_batch_size",
                                                     "activations_checkpoint_granularity", "optim"};

bool is_of_yaml(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty() || line.front() == ' ' || line.front() == '#' || line.starts_with("- ")) return true;
  const auto end = std::ranges::find_if(line, [](char c) { return c == ':' || c == ' '; });
  return end != line.end() && *end == ':' && end != line.begin();
}

// A log has other lines in front of the configuration and behind it: they become empty.
std::string without_log(std::string_view text) {
  std::string result;
  enum class Part { kBefore, kWithin, kBehind } part = Part::kBefore;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (part == Part::kBefore && line.starts_with(kContainer)) part = Part::kWithin;
    if (part == Part::kWithin && !is_of_yaml(line)) part = Part::kBehind;
    if (part == Part::kWithin) result += line;
    result += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

bool begins_a_line(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    if (at == 0 || text[at - 1] == '\n') return true;
  }
  return false;
}

// A trainer of Lightning, or a model with NeMo's names.
bool is_of_nemo(const ConfigNode& root) {
  if (map_below(root, "trainer") != nullptr) return true;
  const ConfigNode* const model = map_below(root, "model");
  return model != nullptr &&
         std::ranges::any_of(kNemoNames, [&](std::string_view name) { return find_entry(*model, name) != nullptr; });
}

}  // namespace

bool is_hydra_file(std::string_view text) {
  constexpr std::string_view kDots = " .....";  // of arguments in a log of Megatron-LM
  if (begins_a_line(text, kContainer)) return true;
  if (text.starts_with("#!") || begins_a_line(text, "MODEL_ARGS:") || text.find(kDots) != text.npos) return false;
  return std::ranges::any_of(kMarginWords, [&](std::string_view section) { return begins_a_line(text, section); });
}

std::optional<MegatronText> read_hydra_file(std::string_view text, ConfigSource& source, Diagnostics& problems) {
  const std::string own = begins_a_line(text, kContainer) ? without_log(text) : std::string(text);
  const std::size_t errors = problems.error_count();
  const std::optional<ConfigNode> root = read_yaml(own, source, problems);
  if (!root || problems.error_count() > errors) return std::nullopt;
  const ConfigNode whole = with_interpolations(*root);
  MegatronText flags = is_recipe_file(whole) ? read_recipe_file(whole, source, problems)
                       : is_of_nemo(whole)   ? read_nemo_file(whole, source, problems)
                                             : read_bridge_file(whole, source, problems);
  if (flags.flags.empty() && problems.error_count() == errors) {
    problems.add({.code = "E144",
                  .place = {.file = source.name},
                  .message = "no key of it sets anything of the model, its training or its layout",
                  .hint = "`ringwright explain megatron` lists the keys that are read"});
  }
  return flags;
}

}  // namespace ringwright::configs
