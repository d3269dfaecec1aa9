#include "workload/parallel/sections.h"

#include <iterator>
#include <utility>

#include "workload/kernels/tiled_gemms.h"

namespace ringwright::workload {

SectionTable::SectionTable(GraphTables& tables, const KernelContext& context)
    : tables_(tables), context_(context), windowed_(context) {
  windowed_.windowed = true;
}

std::vector<Kernel> SectionTable::make(LayerSection section, AttentionSpan span) const {
  std::vector<Kernel> kernels = kernels_of(section, span == AttentionSpan::kWindow ? windowed_ : context_);
  if (share_ != GradientShare::kWhole) {
    std::erase_if(kernels, [this](const Kernel& kernel) {
      return (kernel.role == GemmRole::kWgrad) != (share_ == GradientShare::kWeights);
    });
  }
  return kernels;
}

SectionId SectionTable::of(LayerSection section, AttentionSpan span) {
  const auto known = made_.find({section, span, share_});
  if (known != made_.end()) return known->second;
  const SectionId made = tables_.add_section(make(section, span));
  made_.emplace(std::tuple(section, span, share_), made);
  return made;
}

const TiledSection& SectionTable::tiles_of(const Gradients& sections, AttentionSpan span) {
  const std::tuple key(sections, span);
  const auto known = tiled_.find(key);
  if (known != tiled_.end()) return known->second;
  std::vector<Kernel> kernels = make(sections.first, span);
  if (sections.second != sections.first) {
    std::ranges::move(make(sections.second, span), std::back_inserter(kernels));
  }
  TiledKernels cut = tile_linears(kernels, context_);
  std::vector<SectionId> made;
  for (std::vector<Kernel>& part : cut.kernels) made.push_back(tables_.add_section(std::move(part)));
  TiledSection section;
  for (const TiledKernels::Step& step : cut.steps) {
    section.steps.push_back({.section = made[step.kernels], .tile = step.tile});
  }
  return tiled_.emplace(key, std::move(section)).first->second;
}

void SectionTable::write_tiles(ProgramWriter& writer, const TiledSection& section) {
  for (const TiledSection::Step& step : section.steps) {
    if (step.tile) tiles_->enter_tile(writer);
    writer.compute(step.section);
    if (step.tile) tiles_->leave_tile(writer);
  }
}

void SectionTable::write(ProgramWriter& writer, LayerSection section, AttentionSpan span) {
  if (!tiled()) return writer.compute(of(section, span));
  write_tiles(writer, tiles_of({section, section}, span));
}

void SectionTable::write_gradients(ProgramWriter& writer, LayerSection inputs, LayerSection weights) {
  if (tiled()) return write_tiles(writer, tiles_of({inputs, weights}, AttentionSpan::kAll));
  writer.compute(of(inputs, AttentionSpan::kAll));
  writer.compute(of(weights, AttentionSpan::kAll));
}

SplitSection SectionTable::cut(LayerSection section, AttentionSpan span, const GemmShares& shares) {
  const std::tuple key(section, span, share_, shares);
  const auto known = cut_.find(key);
  if (known != cut_.end()) return known->second;
  CutKernels kernels = split_gemms(make(section, span), shares);
  const SplitSection made{.head = tables_.add_section(std::move(kernels.head)),
                      .first = tables_.add_section(std::move(kernels.first)),
                      .middle = tables_.add_section(std::move(kernels.middle)),
                      .last = tables_.add_section(std::move(kernels.last)),
                      .tail = tables_.add_section(std::move(kernels.tail)),
                      .first_shares = kernels.first_shares,
                      .last_shares = kernels.last_shares};
  cut_.emplace(key, made);
  return made;
}

}  // namespace ringwright::workload
