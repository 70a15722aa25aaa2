// Which scalars of an event file are the loss and the accuracy of a training job.
#pragma once

#include <cstdint>
#include <string_view>

namespace berth::telemetry {

enum class ScalarKind : std::uint8_t { kOther, kLoss, kAccuracy };

struct ScalarName {
  ScalarKind kind = ScalarKind::kOther;
  int rank = 0;  // the lowest of a kind is meant where there are several
};

// By the words of the tag ("train/loss", "val_acc", "epoch_accuracy", "Loss/test"); `validation`:
// the file lies in a folder of that name, as Keras has it. Of losses that of training is meant, and
// the one by step before the one by epoch; of accuracies that of validation.
[[nodiscard]] ScalarName scalar_name(std::string_view tag, bool validation);
// "validation", "val", "eval", "test", ...
[[nodiscard]] bool names_validation(std::string_view word);

}  // namespace berth::telemetry
