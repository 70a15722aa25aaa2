// What holds for every technique, whatever it is.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "interference/technique.h"

namespace berth::interference {
namespace {

struct Data {
  Matrix x;
  Vector y;
};

Data made_data(Eigen::Index rows, Eigen::Index features) {
  Rng rng(5);
  Data data{Matrix(rows, features), Vector(rows)};
  for (Eigen::Index i = 0; i < rows; ++i) {
    for (Eigen::Index j = 0; j < features; ++j) data.x(i, j) = rng.normal();
    data.y[i] = std::sin(2.0 * data.x(i, 0)) + 0.1 * rng.normal();
  }
  return data;
}

std::span<const double> row_of(const Matrix& x, Eigen::Index row) {
  return {x.row(row).data(), static_cast<std::size_t>(x.cols())};
}

nlohmann::json fitted_json(const TechniqueInfo& info, const Data& data, std::uint64_t seed) {
  const auto model = info.make(info.defaults);
  EXPECT_TRUE(model->fit(data.x, data.y, Rng(seed)));
  nlohmann::json out;
  model->save(out);
  return out;
}

// Fits without an error and predicts finite numbers near and far from the rows.
void expect_sane(const TechniqueInfo& info, const Data& data) {
  const auto model = info.make(info.defaults);
  const auto status = model->fit(data.x, data.y, Rng(1));
  ASSERT_TRUE(status) << status.error().text();
  ASSERT_EQ(model->feature_count(), static_cast<std::size_t>(data.x.cols()));
  for (Eigen::Index i = 0; i < data.x.rows(); ++i) {
    EXPECT_TRUE(std::isfinite(model->predict(row_of(data.x, i))));
  }
  for (const double far : {0.0, 1e6, -1e50, 1e300}) {
    const std::vector<double> row(model->feature_count(), far);
    EXPECT_TRUE(std::isfinite(model->predict(row))) << "at " << far;
  }
  nlohmann::json out;
  model->save(out);
  EXPECT_EQ(out.dump().find("null"), std::string::npos) << "nan or infinity in the model";
}

class AllTechniques : public testing::TestWithParam<std::string_view> {
 protected:
  [[nodiscard]] static const TechniqueInfo& info() { return *find_technique(GetParam()); }
};

TEST_P(AllTechniques, TheModelReadBackPredictsTheSameBits) {
  const Data data = made_data(40, 3);
  const auto model = info().make(info().defaults);
  ASSERT_TRUE(model->fit(data.x, data.y, Rng(3)));
  nlohmann::json out;
  model->save(out);
  const auto copy = info().load(nlohmann::json::parse(out.dump()));
  ASSERT_TRUE(copy) << copy.error().text();
  EXPECT_EQ((*copy)->feature_count(), 3U);
  for (Eigen::Index i = 0; i < data.x.rows(); ++i) {
    EXPECT_EQ(model->predict(row_of(data.x, i)), (*copy)->predict(row_of(data.x, i)));
  }
}

TEST_P(AllTechniques, TheSameGeneratorGivesTheSameModel) {
  const Data data = made_data(60, 4);
  EXPECT_EQ(fitted_json(info(), data, 8).dump(), fitted_json(info(), data, 8).dump());
}

TEST_P(AllTechniques, LearnsSomething) {
  const Data data = made_data(80, 2);
  const auto model = info().make(info().defaults);
  ASSERT_TRUE(model->fit(data.x, data.x.col(0), Rng(1)));
  double error = 0.0;
  for (Eigen::Index i = 0; i < data.x.rows(); ++i) {
    error += std::abs(model->predict(row_of(data.x, i)) - data.x(i, 0)) / 80.0;
  }
  EXPECT_LT(error, 0.6);  // the mean is off by 0.8
}

TEST_P(AllTechniques, DegenerateRowsAreNoTrouble) {
  const Data data = made_data(12, 3);
  Data constant_target = data;
  constant_target.y.setConstant(2.5);
  expect_sane(info(), constant_target);
  const auto model = info().make(info().defaults);
  ASSERT_TRUE(model->fit(constant_target.x, constant_target.y, Rng(1)));
  EXPECT_NEAR(model->predict(row_of(data.x, 0)), 2.5, 1e-9);

  Data constant_feature = data;
  constant_feature.x.col(1).setConstant(7.0);
  expect_sane(info(), constant_feature);
  Data same_rows = data;
  same_rows.x.setConstant(1.0);
  expect_sane(info(), same_rows);
  expect_sane(info(), made_data(1, 3));
  expect_sane(info(), made_data(2, 1));
  expect_sane(info(), made_data(5, 30));
}

TEST_P(AllTechniques, ExtremeValuesAreNoTrouble) {
  for (const double scale : {1e-100, 1e-20, 1e3}) {
    Data data = made_data(15, 2);
    data.x *= scale;
    expect_sane(info(), data);
    data.y *= scale;
    expect_sane(info(), data);
  }
}

TEST_P(AllTechniques, UnusableDataIsRefused) {
  const auto model = info().make(info().defaults);
  const Data data = made_data(4, 2);
  for (const double bad : {std::nan(""), HUGE_VAL, 1e60}) {
    Data broken = data;
    broken.x(1, 1) = bad;
    EXPECT_FALSE(model->fit(broken.x, broken.y, Rng(1)));
    broken = data;
    broken.y[2] = bad;
    EXPECT_FALSE(model->fit(broken.x, broken.y, Rng(1)));
  }
  EXPECT_FALSE(model->fit(Matrix(0, 2), Vector(0), Rng(1)));
  EXPECT_FALSE(model->fit(Matrix(4, 0), data.y, Rng(1)));
  EXPECT_FALSE(model->fit(data.x, Vector::Zero(3), Rng(1)));
}

TEST_P(AllTechniques, ParametersOutOfRangeAreRefused) {
  const Data data = made_data(6, 2);
  for (const auto& [name, value] : info().defaults) {
    for (const double bad : {-1.0, std::nan(""), 1e300}) {
      const auto model = info().make({{name, bad}});
      const auto status = model->fit(data.x, data.y, Rng(1));
      ASSERT_FALSE(status) << name << " = " << bad;
      EXPECT_EQ(status.error().field, name);
    }
  }
}

TEST_P(AllTechniques, EveryPointOfTheGridCanBeFitted) {
  const Data data = made_data(30, 3);
  ASSERT_FALSE(info().grid.empty());
  EXPECT_EQ(info().grid.front(), info().defaults);
  for (const auto& params : info().grid) {
    EXPECT_TRUE(info().make(params)->fit(data.x, data.y, Rng(1)));
  }
}

TEST_P(AllTechniques, ADamagedModelIsRefusedByTheNameOfItsField) {
  const auto good = fitted_json(info(), made_data(10, 2), 1);
  for (const auto& [field, value] : good.items()) {
    auto without = good;
    without.erase(field);
    const auto missing = info().load(without);
    ASSERT_FALSE(missing) << field;
    EXPECT_EQ(missing.error().kind, ErrorKind::kBadInput);
    EXPECT_EQ(missing.error().field, field);
    for (const auto* text : {"\"x\"", "null", "-3.5e400000", "[[1]]", "{}", "true"}) {
      auto wrong = good;
      wrong[field] = nlohmann::json::parse(text, nullptr, false);
      EXPECT_FALSE(info().load(wrong)) << field << " = " << text;
    }
  }
  for (const auto* text : {"null", "[]", "{}", "3", "\"model\""}) {
    EXPECT_FALSE(info().load(nlohmann::json::parse(text)));
  }
}

std::vector<std::string_view> names() {
  std::vector<std::string_view> result;
  for (const auto& info : all_techniques()) result.push_back(info.name);
  return result;
}

INSTANTIATE_TEST_SUITE_P(Techniques, AllTechniques, testing::ValuesIn(names()),
                         [](const auto& entry) {
                           std::string name(entry.param);
                           std::erase(name, '-');
                           return name;
                         });

TEST(Techniques, NamesAreUniqueAndFound) {
  const auto all = names();
  EXPECT_EQ(std::set<std::string_view>(all.begin(), all.end()).size(), all.size());
  for (const auto name : all) EXPECT_EQ(find_technique(name)->name, name);
  EXPECT_EQ(find_technique("oracle"), nullptr);
}

}  // namespace
}  // namespace berth::interference
