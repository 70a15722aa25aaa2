#include "engine/presets/measured_facts.h"

namespace berth::presets {
namespace {

// Parameters as their papers give them. Curves of BERT (two points) and YOLOv3 (a loss) cannot be
// fitted: those of the nearest kind stand in.
constexpr ProfiledModel kModels[] = {
    {"cifar10", 11'200'000, 0.0204, 0.000650, 32, 1024, 0.0074, 0.067, &kCifar10},
    {"ncf", 31'800'000, 0.0075, 0.00000046, 32, 32768, 0.0035, 0.018, &kMovieLens},
    {"bert", 110'000'000, 0.2233, 0.058254, 4, 12, 0.0783, 1.076, &kMovieLens},
    {"deepspeech2", 38'000'000, 0.1908, 0.025488, 10, 80, 0.0766, 0.318, &kDeepSpeech2},
    {"yolov3", 61'900'000, 0.1763, 0.026513, 4, 16, 0.0335, 0.778, &kImageNet},
    {"imagenet", 25'600'000, 0.0719, 0.004313, 20, 200, 0.0033, 0.152, &kImageNet},
};

}  // namespace

std::span<const ProfiledModel> profiled_models() {
  return kModels;
}

}  // namespace berth::presets
