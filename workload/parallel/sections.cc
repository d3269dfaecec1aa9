#include "workload/parallel/sections.h"

#include <utility>

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
