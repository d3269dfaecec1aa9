#include "validation/training/recipe_columns.h"

#include <gtest/gtest.h>

#include "validation/training/row.h"

namespace ringwright::validation::recipe_columns_test {
namespace {

TrainingRow row_of(const std::string& columns, const std::string& cells) {
  const auto table = parse_csv("runs.csv", "id,model,gpu,n_gpus," + columns + "\na-1,m,H100,8," + cells + "\n")
                         .and_then([](const CsvTable& csv) { return read_training_rows(csv); });
  EXPECT_TRUE(table) << (table ? "" : render(table.error()));
  EXPECT_TRUE(table && table->warnings.all().empty()) << "recipe columns are known";
  return table ? table->rows[0] : TrainingRow();
}

TEST(RecipeColumns, TheReleaseOfTheRowComesBeforeTheNewestRecipe) {
  const TrainingRow row = row_of("recipe_moe_a2a_overlap,tag_match,tag_model,tag_moe_a2a_overlap,tag_recompute_modules",
                                 "1,exact,m,0,layernorm+moe_act");
  EXPECT_EQ(row.recipe, "model=m; moe_a2a_overlap=0; recompute_modules=layernorm+moe_act");
  EXPECT_EQ(row.recompute, "selective: layernorm+moe_act");
}

TEST(RecipeColumns, TheNewestRecipeHoldsOnlyWhereTheTableSaysSo) {
  EXPECT_EQ(row_of("recipe_moe_a2a_overlap,tag_match", "1,use HEAD recipe columns").recipe, "moe_a2a_overlap=1");
  EXPECT_EQ(row_of("recipe_moe_a2a_overlap,tag_match", "1,none").recipe, "");
}

TEST(RecipeColumns, ARecipeWithoutModulesRecomputesNothing) {
  EXPECT_EQ(recompute_of("moe_a2a_overlap=1"), "none");
  EXPECT_EQ(recompute_of("recompute_modules=[]; mbs=1"), "none");
  EXPECT_EQ(recompute_of(""), "") << "no recipe states nothing";
}

}  // namespace
}  // namespace ringwright::validation::recipe_columns_test
