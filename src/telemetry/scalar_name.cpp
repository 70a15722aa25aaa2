#include "telemetry/scalar_name.h"

#include <algorithm>
#include <string>

namespace berth::telemetry {
namespace {

constexpr std::size_t kMostTagBytes = 64;

bool one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

struct Words {
  bool loss = false;
  bool accuracy = false;
  bool train = false;
  bool validation = false;
  bool epoch = false;
  bool other = false;  // a word that makes it something else
};

void note_word(std::string_view word, Words& words) {
  if (word == "loss") {
    words.loss = true;
  } else if (one_of(word, {"accuracy", "acc"})) {
    words.accuracy = true;
  } else if (one_of(word, {"train", "training"})) {
    words.train = true;
  } else if (names_validation(word)) {
    words.validation = true;
  } else if (word == "epoch") {
    words.epoch = true;
  } else if (!one_of(word, {"", "step", "batch", "iteration", "total", "top1", "sparse",
                            "categorical", "binary", "metrics", "scalars"})) {
    words.other = true;
  }
}

}  // namespace

bool names_validation(std::string_view word) {
  return one_of(lower_case(word),
                {"val", "valid", "validation", "eval", "evaluation", "test", "dev"});
}

ScalarName scalar_name(std::string_view tag, bool validation) {
  if (tag.size() > kMostTagBytes) return {};
  Words words;
  std::string left = lower_case(tag);
  while (true) {
    const std::size_t end = left.find_first_of("/_-. ");
    note_word(std::string_view(left).substr(0, end), words);
    if (end == std::string::npos) break;
    left.erase(0, end + 1);
  }
  words.validation = words.validation || (validation && !words.train);
  if (words.other || words.loss == words.accuracy) return {};
  const int by_epoch = words.epoch ? 1 : 0;
  if (words.loss) return {ScalarKind::kLoss, (words.validation ? 2 : 0) + by_epoch};
  const int meant = words.validation ? 0 : words.train ? 4 : 2;
  return {ScalarKind::kAccuracy, meant + by_epoch};
}

}  // namespace berth::telemetry
