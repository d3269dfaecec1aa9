// The layer sections of one context, each made once.
#pragma once

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "workload/kernels/layer_kernels.h"
#include "workload/kernels/split_gemms.h"
#include "workload/program/graph_tables.h"
#include "workload/program/program_writer.h"

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

// Gathers the parameters of the tiles of linear operators, in the order of their use, and reduces their gradients.
class TileUses {
 public:
  virtual ~TileUses() = default;
  virtual void enter_tile(ProgramWriter& writer) = 0;
  virtual void leave_tile(ProgramWriter& writer) = 0;
};

// A section in the order in which it runs: parts between tiles, and tiles.
struct TiledSection {
  struct Step {
    SectionId section = 0;
    bool tile = false;
  };
  std::vector<Step> steps;
};

class SectionTable {
 public:
  SectionTable(GraphTables& tables, const KernelContext& context);
  [[nodiscard]] SectionId operator[](LayerSection section) { return of(section, AttentionSpan::kAll); }
  [[nodiscard]] SectionId of(LayerSection section, AttentionSpan span);
  [[nodiscard]] SplitSection cut(LayerSection section, AttentionSpan span, const GemmShares& shares);
  // With tiles: their linear operators are written tile by tile. Null: they are not cut.
  void tile_with(TileUses* tiles) { tiles_ = tiles; }
  [[nodiscard]] bool tiled() const { return tiles_ != nullptr; }
  void write(ProgramWriter& writer, LayerSection section, AttentionSpan span = AttentionSpan::kAll);
  // The two gradients of a linear operator: with tiles, both of one after both of another.
  void write_gradients(ProgramWriter& writer, LayerSection inputs, LayerSection weights);
  // The part of sections that is emitted from here on.
  void take(GradientShare share) { share_ = share; }
  [[nodiscard]] GradientShare taken() const { return share_; }
  [[nodiscard]] SectionId add(std::vector<Kernel> kernels) { return tables_.add_section(std::move(kernels)); }
  [[nodiscard]] const KernelContext& context() const { return context_; }

 private:
  [[nodiscard]] std::vector<Kernel> make(LayerSection section, AttentionSpan span) const;
  using Gradients = std::pair<LayerSection, LayerSection>;  // twice the same: one section
  [[nodiscard]] const TiledSection& tiles_of(const Gradients& sections, AttentionSpan span);
  void write_tiles(ProgramWriter& writer, const TiledSection& section);

  GraphTables& tables_;
  KernelContext context_;
  KernelContext windowed_;
  GradientShare share_ = GradientShare::kWhole;
  std::map<std::tuple<LayerSection, AttentionSpan, GradientShare>, SectionId> made_;
  std::map<std::tuple<LayerSection, AttentionSpan, GradientShare, GemmShares>, SplitSection> cut_;
  TileUses* tiles_ = nullptr;
  std::map<std::tuple<Gradients, AttentionSpan>, TiledSection> tiled_;
};

}  // namespace ringwright::workload
