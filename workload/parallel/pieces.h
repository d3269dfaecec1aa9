// The pieces of one context, each made once.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "workload/graph_tables.h"
#include "workload/layer_kernels.h"

namespace ringwright::workload {

// Whether a layer's attention is confined to the model's window.
enum class AttentionReach { kAll, kWindow };

// What is wanted of the pieces of a backward pass: all, or one of the two gradients of every linear layer. Everything
// that is not a product for a weight's gradient belongs to the inputs.
enum class GradientShare { kWhole, kInputs, kWeights };

class PieceTable {
 public:
  PieceTable(GraphTables& tables, const KernelContext& context);
  [[nodiscard]] PieceId operator[](Piece piece) { return of(piece, AttentionReach::kAll); }
  [[nodiscard]] PieceId of(Piece piece, AttentionReach reach);
  // What pieces are cut down to from here on.
  void take(GradientShare share) { share_ = share; }
  [[nodiscard]] PieceId add(std::vector<Kernel> kernels) { return tables_.add_piece(std::move(kernels)); }
  [[nodiscard]] const KernelContext& context() const { return context_; }

 private:
  GraphTables& tables_;
  KernelContext context_;
  KernelContext windowed_;
  GradientShare share_ = GradientShare::kWhole;
  std::map<std::tuple<Piece, AttentionReach, GradientShare>, PieceId> made_;
};

}  // namespace ringwright::workload
