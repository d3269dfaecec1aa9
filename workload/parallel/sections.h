// The layer sections of one context, each made once.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "workload/kernels/layer_kernels.h"
#include "workload/kernels/split_gemms.h"
#include "workload/program/graph_tables.h"

namespace ringwright::workload {

// Whether a layer's attention is limited to the model's window.
enum class AttentionSpan { kAll, kWindow };

// The requested part of a backward pass: all, or one of the two gradients of every linear layer. Everything except
// wgrad GEMMs belongs to the input gradients.
enum class GradientShare { kWhole, kInputs, kWeights };

// A section whose first and last GEMM are split into equal shares.
struct SplitSection {
  SectionId head = 0;
  SectionId first = 0;  // one share
  SectionId middle = 0;
  SectionId last = 0;  // one share
  SectionId tail = 0;
  int first_shares = 0;
  int last_shares = 0;
};

class SectionTable {
 public:
  SectionTable(GraphTables& tables, const KernelContext& context);
  [[nodiscard]] SectionId operator[](LayerSection section) { return of(section, AttentionSpan::kAll); }
  [[nodiscard]] SectionId of(LayerSection section, AttentionSpan span);
  [[nodiscard]] SplitSection cut(LayerSection section, AttentionSpan span, const GemmShares& shares);
  // The part of sections that is emitted from here on.
  void take(GradientShare share) { share_ = share; }
  [[nodiscard]] GradientShare taken() const { return share_; }
  [[nodiscard]] SectionId add(std::vector<Kernel> kernels) { return tables_.add_section(std::move(kernels)); }
  [[nodiscard]] const KernelContext& context() const { return context_; }

 private:
  [[nodiscard]] std::vector<Kernel> make(LayerSection section, AttentionSpan span) const;

  GraphTables& tables_;
  KernelContext context_;
  KernelContext windowed_;
  GradientShare share_ = GradientShare::kWhole;
  std::map<std::tuple<LayerSection, AttentionSpan, GradientShare>, SectionId> made_;
  std::map<std::tuple<LayerSection, AttentionSpan, GradientShare, GemmShares>, SplitSection> cut_;
};

}  // namespace ringwright::workload
