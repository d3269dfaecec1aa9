// The pieces of one context, each made once.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "workload/kernels/layer_kernels.h"
#include "workload/kernels/split_gemms.h"
#include "workload/program/graph_tables.h"

namespace ringwright::workload {

// Whether a layer's attention is confined to the model's window.
enum class AttentionReach { kAll, kWindow };

// What is wanted of the pieces of a backward pass: all, or one of the two gradients of every linear layer. Everything
// that is not a product for a weight's gradient belongs to the inputs.
enum class GradientShare { kWhole, kInputs, kWeights };

// A piece whose first and last products are cut in equal shares.
struct CutPiece {
  PieceId head = 0;
  PieceId first = 0;  // one share
  PieceId middle = 0;
  PieceId last = 0;  // one share
  PieceId tail = 0;
};

class PieceTable {
 public:
  PieceTable(GraphTables& tables, const KernelContext& context);
  [[nodiscard]] PieceId operator[](Piece piece) { return of(piece, AttentionReach::kAll); }
  [[nodiscard]] PieceId of(Piece piece, AttentionReach reach);
  [[nodiscard]] CutPiece cut(Piece piece, AttentionReach reach, const GemmShares& shares);
  // What pieces are cut down to from here on.
  void take(GradientShare share) { share_ = share; }
  [[nodiscard]] GradientShare taken() const { return share_; }
  [[nodiscard]] PieceId add(std::vector<Kernel> kernels) { return tables_.add_piece(std::move(kernels)); }
  [[nodiscard]] const KernelContext& context() const { return context_; }

 private:
  [[nodiscard]] std::vector<Kernel> make(Piece piece, AttentionReach reach) const;

  GraphTables& tables_;
  KernelContext context_;
  KernelContext windowed_;
  GradientShare share_ = GradientShare::kWhole;
  std::map<std::tuple<Piece, AttentionReach, GradientShare>, PieceId> made_;
  std::map<std::tuple<Piece, AttentionReach, GradientShare, int, int>, CutPiece> cut_;
};

}  // namespace ringwright::workload
