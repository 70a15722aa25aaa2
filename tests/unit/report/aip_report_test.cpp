#include "report/aip_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace berth::report {
namespace {

using interference::AipResult;
using interference::Category;

AipResult with_cells(std::initializer_list<Category> categories) {
  AipResult out;
  for (const Category category : categories) out.cells.push_back({"cart", category, 0.1, 1.0});
  return out;
}

// A category of which the data set has nothing is named, not passed over.
TEST(AipReport, EmptyCategoriesAreNamed) {
  const AipResult some = with_cells({Category::kPower, Category::kBandwidth, Category::kAll});
  EXPECT_NE(
      aip_text(some).find(
          "without a usable parameter, hence without error and influence: sm-memory, other\n"),
      std::string::npos);
  EXPECT_EQ(aip_json(some)["empty_categories"].dump(), R"(["sm-memory","other"])");
  const AipResult all = with_cells({Category::kPower, Category::kCompute, Category::kBandwidth,
                                    Category::kOther, Category::kAll});
  EXPECT_EQ(aip_text(all).find("without a usable"), std::string::npos);
  EXPECT_EQ(aip_json(all)["empty_categories"].dump(), "[]");
}

}  // namespace
}  // namespace berth::report
