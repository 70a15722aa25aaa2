#include "interference/techniques/knn.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "interference/techniques/common.h"

namespace berth::interference {
namespace {

constexpr std::int64_t kMaxNeighbours = 64;

struct Neighbour {
  double squared_distance = 0.0;
  Eigen::Index row = 0;
};

// The k nearest, sorted; of rows at the same distance the earlier one stays.
class Nearest {
 public:
  explicit Nearest(std::size_t capacity) : capacity_(capacity) {}

  void offer(Neighbour candidate) {
    if (size_ == capacity_ && !(candidate.squared_distance < best_[size_ - 1].squared_distance)) {
      return;
    }
    std::size_t at = size_ < capacity_ ? size_++ : size_ - 1;
    for (; at > 0 && candidate.squared_distance < best_[at - 1].squared_distance; --at) {
      best_[at] = best_[at - 1];
    }
    best_[at] = candidate;
  }
  [[nodiscard]] std::span<const Neighbour> get() const { return {best_.data(), size_}; }

 private:
  std::array<Neighbour, kMaxNeighbours> best_;
  std::size_t capacity_;
  std::size_t size_ = 0;
};

class Knn final : public Regressor {
 public:
  explicit Knn(double neighbours) : requested_(neighbours) {}

  Status fit(const Matrix& x, const Vector& y, Rng /*rng*/) override {
    BERTH_CHECK_OK(check_training_data(x, y));
    BERTH_CHECK_OK(check_parameter("k", requested_, 1, kMaxNeighbours));
    k_ = std::min(static_cast<std::int64_t>(requested_), static_cast<std::int64_t>(x.rows()));
    rows_ = x;
    targets_ = y;
    return {};
  }

  double predict(std::span<const double> row) const override {
    const Eigen::Map<const Eigen::RowVectorXd> values(row.data(), rows_.cols());
    Nearest nearest(static_cast<std::size_t>(k_));
    for (Eigen::Index i = 0; i < rows_.rows(); ++i) {
      nearest.offer({(rows_.row(i) - values).squaredNorm(), i});
    }
    const bool exact = nearest.get().front().squared_distance == 0.0;
    double sum = 0.0;
    double weights = 0.0;
    for (const auto& [squared_distance, i] : nearest.get()) {
      if (exact && squared_distance > 0.0) break;
      const double weight = exact ? 1.0 : 1.0 / std::sqrt(squared_distance);
      sum += weight * targets_[i];
      weights += weight;
    }
    const double mean = sum / weights;
    return std::isfinite(mean) ? mean : targets_.mean();
  }

  std::size_t feature_count() const override { return static_cast<std::size_t>(rows_.cols()); }

  void save(nlohmann::json& out) const override {
    out = {{"features", rows_.cols()},
           {"k", k_},
           {"targets", json_array(targets_)},
           {"rows", json_array(rows_.reshaped<Eigen::RowMajor>())}};
  }

  static Result<std::unique_ptr<Regressor>> load(const nlohmann::json& in) {
    const FieldReader reader(in);
    auto model = std::make_unique<Knn>(1.0);
    BERTH_TRY(const auto features, reader.integer("features", 1, kMaxFeatures));
    BERTH_TRY(const auto targets, reader.numbers("targets"));
    const auto count = std::ssize(targets);
    if (count == 0) return fail(damaged_model("targets", "no values", "one a row"));
    BERTH_TRY(model->k_, reader.integer("k", 1, std::min<std::int64_t>(count, kMaxNeighbours)));
    BERTH_TRY(const auto rows, reader.numbers("rows", count * features));
    model->targets_ = Eigen::Map<const Vector>(targets.data(), count);
    model->rows_ = Eigen::Map<const Matrix>(rows.data(), count, features);
    return model;
  }

 private:
  double requested_;
  std::int64_t k_ = 1;
  Matrix rows_;
  Vector targets_;
};

}  // namespace

TechniqueInfo knn_technique() {
  return {.name = "knn",
          .defaults = {{"k", 5.0}},
          .grid = {{{"k", 5.0}}, {{"k", 1.0}}, {{"k", 3.0}}, {{"k", 8.0}}, {{"k", 12.0}}},
          .make = [](const Params& params) -> std::unique_ptr<Regressor> {
            return std::make_unique<Knn>(parameter(params, "k", 5.0));
          },
          .load = Knn::load};
}

}  // namespace berth::interference
