// Fits one technique to the rows of a CSV and prints its prediction for the rows of another, one a
// line, for comparison with other implementations.
//   technique_runner TECHNIQUE TRAIN.csv TEST.csv SEED [NAME=VALUE]...
// The files have no header; the last column is the target (of TEST, it is ignored). The model that
// predicts has been through JSON text and back.
#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/number.h"
#include "interference/technique.h"

namespace berth::interference {
namespace {

std::vector<std::vector<double>> read_rows(const char* path) {
  std::ifstream file(path);
  std::vector<std::vector<double>> rows;
  for (std::string line; std::getline(file, line);) {
    auto& row = rows.emplace_back();
    for (std::size_t begin = 0; begin <= line.size();) {
      const std::size_t end = std::min(line.find(',', begin), line.size());
      row.push_back(parse_number(line.substr(begin, end - begin)).value());
      begin = end + 1;
    }
  }
  return rows;
}

int run(std::span<char*> arguments) {
  const TechniqueInfo* technique = find_technique(arguments[0]);
  if (technique == nullptr) {
    std::cerr << "no such technique\n";
    return 2;
  }
  const auto train = read_rows(arguments[1]);
  const auto features = std::ssize(train.at(0)) - 1;
  Matrix x(std::ssize(train), features);
  Vector y(std::ssize(train));
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const auto& row = train[static_cast<std::size_t>(i)];
    for (Eigen::Index j = 0; j < features; ++j) x(i, j) = row.at(static_cast<std::size_t>(j));
    y[i] = row.at(static_cast<std::size_t>(features));
  }
  Params params;
  for (const std::string_view argument : arguments.subspan(4)) {
    const auto equals = argument.find('=');
    params.emplace_back(argument.substr(0, equals),
                        parse_number(argument.substr(equals + 1)).value());
  }
  const auto seed = parse_int(arguments[3]).value();
  const auto fitted = technique->make(params);
  nlohmann::json saved;
  if (auto status = fitted->fit(x, y, Rng(static_cast<std::uint64_t>(seed))); !status) {
    std::cerr << status.error().text() << '\n';
    return 1;
  }
  fitted->save(saved);
  const auto model = technique->load(nlohmann::json::parse(saved.dump()));
  if (!model) {
    std::cerr << model.error().text() << '\n';
    return 1;
  }
  for (const auto& row : read_rows(arguments[2])) {
    std::cout << fmt::format("{:.17g}\n",
                             (*model)->predict({row.data(), static_cast<std::size_t>(features)}));
  }
  return 0;
}

}  // namespace
}  // namespace berth::interference

int main(int argc, char** argv) {
  if (argc < 5) {
    std::cerr << "technique_runner TECHNIQUE TRAIN.csv TEST.csv SEED [NAME=VALUE]...\n";
    return 2;
  }
  try {
    return berth::interference::run({argv + 1, static_cast<std::size_t>(argc) - 1});
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
