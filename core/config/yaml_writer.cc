#include "core/config/yaml_writer.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "core/base/evidence.h"
#include "core/base/json_text.h"

namespace ringwright {
namespace {

bool from_preset(const ConfigNode& node) {
  return node.source != nullptr && node.source->kind == SourceKind::kPreset;
}

// Text that needs no quotes anywhere: words, numbers with units, paths.
bool is_plain(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text,
                             [](char c) {
                               return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                                      std::string_view("._-/+%").find(c) != std::string_view::npos;
                             }) &&
         text.front() != '-' && text.front() != '%';
}

class Writer {
 public:
  // A preset's values are left out of a file that names the preset; one value alone is written whole.
  Writer(const ConfigSource* main, bool keeps_presets) : main_(main), keeps_presets_(keeps_presets) {}

  [[nodiscard]] std::string text_of(const ConfigNode& node) const {
    if (node.kind != ConfigKind::kMap && has_other_evidence(node)) {
      return "{value: " + bare_text(node) + ", evidence: " + std::string(to_string(evidence_of(node))) +
             ", source: " + json_text(provenance_of(node)) + "}";
    }
    return bare_text(node);
  }

 private:
  [[nodiscard]] bool has_other_evidence(const ConfigNode& node) const {
    if (main_ == nullptr || node.source == nullptr || node.source == main_) return false;
    return node.source->evidence != main_->evidence || node.source->provenance != main_->provenance;
  }

  [[nodiscard]] std::string bare_text(const ConfigNode& node) const {
    switch (node.kind) {
      case ConfigKind::kNull: return "~";
      case ConfigKind::kScalar: {
        const bool number = !node.text.empty() && node.text.front() == '-' && is_plain(node.text.substr(1));
        return !node.quoted && (number || is_plain(node.text)) ? node.text : json_text(node.text);
      }
      case ConfigKind::kList: {
        std::string text = "[";
        for (const ConfigNode& item : node.items) text += (text.size() > 1 ? ", " : "") + bare_text(item);
        return text + "]";
      }
      case ConfigKind::kMap: {
        std::string text = "{";
        for (const ConfigEntry& entry : node.entries) {
          if (!keeps_presets_ && from_preset(entry.value)) continue;
          if (text.size() > 1) text += ", ";
          text += key_text(entry.key) + ": " + (has_provenance(node) ? bare_text(entry.value) : text_of(entry.value));
        }
        return text + "}";
      }
    }
    return {};
  }

  [[nodiscard]] static std::string key_text(const std::string& key) { return is_plain(key) ? key : json_text(key); }

  const ConfigSource* main_;
  bool keeps_presets_;
};

}  // namespace

std::string write_value(const ConfigNode& node) { return Writer(nullptr, true).text_of(node); }

std::string write_yaml(const ConfigNode& root, const ConfigSource* main) {
  const Writer writer(main, false);
  std::string text;
  if (main != nullptr && main->evidence) text += "evidence: " + std::string(to_string(*main->evidence)) + "\n";
  if (main != nullptr && !main->provenance.empty()) text += "source: " + json_text(main->provenance) + "\n";
  for (const ConfigEntry& entry : root.entries) {
    if (!from_preset(entry.value)) text += entry.key + ": " + writer.text_of(entry.value) + "\n";
  }
  return text;
}

}  // namespace ringwright
