// What `berth interference fit` makes: an ensemble with the names of everything it needs, as a
// file, and with a cache of its predictions.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "interference/ensemble.h"

namespace berth::interference {

// JSON, self-describing; a program refuses another version than its own.
inline constexpr int kModelVersion = 1;
inline constexpr std::string_view kModelFormat = "berth-interference-model";

class RateModel {
 public:
  // On all rows of the set.
  [[nodiscard]] static Result<RateModel> fit(const TrainingSet& set, FoldKind kind, Rng rng);

  // Of each row; jobs and columns are matched by name, jobs may be new. Errors: a column that the
  // model needs is not there.
  [[nodiscard]] Result<std::vector<Prediction>> predict(const Dataset& data) const;

  [[nodiscard]] const Ensemble& ensemble() const { return ensemble_; }
  [[nodiscard]] const FeatureMap& features() const { return map_; }
  [[nodiscard]] const std::vector<std::string>& devices() const { return devices_; }

  // The file appears whole or not at all.
  [[nodiscard]] Status write(const std::string& path) const;
  // Errors: not a model, another version, cut short, features that do not fit.
  [[nodiscard]] static Result<RateModel> read(const std::string& path);
  [[nodiscard]] std::string to_text() const;
  [[nodiscard]] static Result<RateModel> from_text(const std::string& name, std::string_view text);

 private:
  FeatureMap map_;
  std::vector<std::string> devices_;
  std::vector<std::string> jobs_;
  Ensemble ensemble_;
};

// Predictions by subject and set of co-runners, for a scheduler that asks the same again and again.
class PredictionCache {
 public:
  static constexpr std::size_t kMostCorunners = 7;

  // corunners sorted. Null if not there. Valid until the next put().
  [[nodiscard]] const Prediction* find(std::uint32_t device, JobIndex subject,
                                       std::span<const JobIndex> corunners) const;
  // Sets of more than kMostCorunners are not kept.
  void put(std::uint32_t device, JobIndex subject, std::span<const JobIndex> corunners,
           const Prediction& prediction);
  void clear() { entries_.clear(); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Key {
    std::uint32_t device = 0;
    std::array<JobIndex, kMostCorunners + 1> jobs{};  // subject first; kNoJob in unused places
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    [[nodiscard]] std::size_t operator()(const Key& key) const noexcept;
  };
  [[nodiscard]] static Key make_key(std::uint32_t device, JobIndex subject,
                                    std::span<const JobIndex> corunners);

  std::unordered_map<Key, Prediction, Hash> entries_;
};

}  // namespace berth::interference
