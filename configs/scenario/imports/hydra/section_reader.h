// The sections of a YAML, read by their tables: what is known is taken, what is unknown is reported.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "configs/scenario/imports/hydra/flag_list.h"
#include "configs/scenario/imports/hydra/hydra_value.h"
#include "configs/scenario/imports/hydra/key_table.h"

namespace ringwright::configs {

class SectionReader {
 public:
  SectionReader(std::span<const KeySection> sections, FlagList& flags) : sections_(sections), flags_(flags) {}

  // `path` is where the section lies in the file; its rows are those of the section of that name.
  void read(std::string_view section, const ConfigNode& map, const std::string& path);
  // Unknown keys that are null or false are options of other versions that are not in use: named together.
  void report_unused() const;

 private:
  void report_unknown(const KeySection& section, const HydraKey& key, std::string_view name);

  std::span<const KeySection> sections_;
  FlagList& flags_;
  std::vector<HydraKey> unused_;
};

}  // namespace ringwright::configs
