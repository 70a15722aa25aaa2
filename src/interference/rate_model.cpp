#include "interference/rate_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/atomic_file.h"
#include "interference/json_field.h"
#include "trace/input.h"

namespace berth::interference {

Result<RateModel> RateModel::fit(const TrainingSet& set, FoldKind kind, Rng rng) {
  RateModel model;
  std::vector<std::size_t> rows(set.data->rows.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  model.map_ = set.map;
  for (std::uint32_t i = 0; i < set.data->devices.size(); ++i) {
    model.devices_.emplace_back(set.data->devices.name(i));
  }
  for (JobIndex i = 0; i < set.data->jobs.size(); ++i) {
    model.jobs_.emplace_back(set.data->jobs.name(i));
  }
  BERTH_TRY(model.ensemble_, Ensemble::fit(set, rows, kind, rng));
  return model;
}

Result<std::vector<Prediction>> RateModel::predict(const Dataset& data) const {
  BERTH_TRY(const Matrix raw, map_.compose_all(data));
  std::vector<JobIndex> known(data.jobs.size(), kNoJob);  // by the data set's number
  for (JobIndex i = 0; i < data.jobs.size(); ++i) {
    const auto it = std::find(jobs_.begin(), jobs_.end(), data.jobs.name(i));
    if (it != jobs_.end()) known[i] = static_cast<JobIndex>(it - jobs_.begin());
  }
  std::vector<Prediction> out;
  std::vector<JobIndex> corunners;
  for (std::size_t i = 0; i < data.rows.size(); ++i) {
    const Row& row = data.rows[i];
    corunners.clear();
    for (const JobIndex job : row.corunners) corunners.push_back(known[job]);
    std::sort(corunners.begin(), corunners.end());
    out.push_back(ensemble_.predict(
        {raw.row(static_cast<Eigen::Index>(i)).data(), static_cast<std::size_t>(raw.cols())},
        known[row.subject], corunners));
  }
  return out;
}

std::string RateModel::to_text() const {
  nlohmann::json map;
  nlohmann::json ensemble;
  map_.save(map);
  ensemble_.save(ensemble);
  std::vector<std::string> features;
  for (const Feature& feature : map_.features()) features.push_back(feature.name);
  const nlohmann::json out = {{"format", kModelFormat},
                              {"version", kModelVersion},
                              {"mode", mode_name(map_.mode())},
                              {"devices", devices_},
                              {"jobs", jobs_},
                              {"features", features},
                              {"columns", std::move(map)},
                              {"ensemble", std::move(ensemble)}};
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Status RateModel::write(const std::string& path) const {
  BERTH_TRY(AtomicFile file, AtomicFile::create(path));
  BERTH_CHECK_OK(file.write(to_text()));
  return file.commit();
}

Result<RateModel> RateModel::read(const std::string& path) {
  BERTH_TRY(trace::Input input, trace::Input::open(path));
  while (input.more()) {
  }
  BERTH_CHECK_OK(input.status());
  return from_text(path, input.window());
}

Result<RateModel> RateModel::from_text(const std::string& name, std::string_view text) {
  const auto refuse = [&](Error error) {
    error.file = name;
    return fail(std::move(error));
  };
  nlohmann::json in;
  try {
    in = nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception&) {
    return refuse(bad_input({}, 0, {}, "not a model, or cut short",
                            fmt::format("{} bytes", text.size()), "the whole JSON of a model"));
  }
  const auto read_fields = [&]() -> Result<RateModel> {
    BERTH_TRY(const auto format, json_field<std::string>(in, "format"));
    if (format != kModelFormat) {
      return fail(bad_input({}, 0, "format", "not an interference model", printable(format),
                            std::string(kModelFormat)));
    }
    BERTH_TRY(const auto version, json_field<int>(in, "version"));
    if (version != kModelVersion) {
      return fail(bad_input({}, 0, "version", "a model of another version",
                            fmt::format("{}", version),
                            fmt::format("{}; fit it again", kModelVersion)));
    }
    RateModel model;
    BERTH_TRY(model.devices_, json_field<std::vector<std::string>>(in, "devices"));
    BERTH_TRY(model.jobs_, json_field<std::vector<std::string>>(in, "jobs"));
    BERTH_TRY(const auto features, json_field<std::vector<std::string>>(in, "features"));
    BERTH_TRY(const auto columns, json_field<nlohmann::json>(in, "columns"));
    BERTH_TRY(model.map_, FeatureMap::load(columns));
    const auto own = model.map_.features();
    const bool same =
        std::equal(own.begin(), own.end(), features.begin(), features.end(),
                   [](const Feature& a, const std::string& b) { return a.name == b; });
    if (!same) {
      return fail(bad_input({}, 0, "features",
                            "other features than this version makes of the columns",
                            fmt::format("{}", features.size()), fmt::format("{}", own.size())));
    }
    BERTH_TRY(const auto ensemble, json_field<nlohmann::json>(in, "ensemble"));
    BERTH_TRY(model.ensemble_, Ensemble::load(ensemble, model.map_));
    return model;
  };
  auto model = read_fields();
  if (!model) return refuse(std::move(model).error());
  return model;
}

std::size_t PredictionCache::Hash::operator()(const Key& key) const noexcept {
  std::uint64_t hash = key.device;
  for (const JobIndex job : key.jobs) {
    if (job == kNoJob) break;
    hash = mix64(hash * 0x9E3779B97F4A7C15ULL + job + 1);
  }
  return hash;
}

PredictionCache::Key PredictionCache::make_key(std::uint32_t device, JobIndex subject,
                                               std::span<const JobIndex> corunners) {
  Key key;
  key.device = device;
  key.jobs.fill(kNoJob);
  key.jobs[0] = subject;
  std::copy(corunners.begin(), corunners.end(), key.jobs.begin() + 1);
  return key;
}

const Prediction* PredictionCache::find(std::uint32_t device, JobIndex subject,
                                        std::span<const JobIndex> corunners) const {
  if (corunners.size() > kMostCorunners) return nullptr;
  const auto it = entries_.find(make_key(device, subject, corunners));
  return it == entries_.end() ? nullptr : &it->second;
}

void PredictionCache::put(std::uint32_t device, JobIndex subject,
                          std::span<const JobIndex> corunners, const Prediction& prediction) {
  if (corunners.size() > kMostCorunners) return;
  entries_.insert_or_assign(make_key(device, subject, corunners), prediction);
}

}  // namespace berth::interference
