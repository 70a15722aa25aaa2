// An example training job: a small neural network learns y = sin(3 x1) x2 by stochastic gradient
// descent. Like train_linear.py it reports each iteration to Berth (the file named by
// BERTH_PROGRESS), saves its state when it is asked to leave (SIGUSR1), and goes on from there in
// its next run.
//
// Exit codes: 0 all iterations are done; 75 it was asked to leave before; 2 wrong use.
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace {

constexpr std::size_t kHidden = 16;
constexpr int kBatch = 32;
constexpr double kRate = 0.05;
constexpr int kStopped = 75;  // not done, run it again

volatile std::sig_atomic_t asked_to_stop = 0;

void on_signal(int /*number*/) {
  asked_to_stop = 1;
}

// SplitMix64: the same numbers everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  double uniform(double low, double high) {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EB;
    z ^= z >> 31U;
    return low + (high - low) * (static_cast<double>(z >> 11U) * 0x1.0p-53);
  }

 private:
  std::uint64_t state_;
};

// Two inputs, one hidden layer of tanh, one output.
struct Network {
  std::array<double, kHidden> w1{}, w2{}, bias{}, out{};
  double out_bias = 0;

  explicit Network(std::uint64_t seed) {
    Random random(seed);
    for (auto* weights : {&w1, &w2, &bias, &out}) {
      for (double& w : *weights) w = random.uniform(-1, 1);
    }
  }

  // One step for one point; returns its squared error before it.
  double learn(double x1, double x2, double y, double rate) {
    std::array<double, kHidden> hidden{};
    double sum = out_bias;
    for (std::size_t k = 0; k < kHidden; ++k) {
      hidden[k] = std::tanh(w1[k] * x1 + w2[k] * x2 + bias[k]);
      sum += out[k] * hidden[k];
    }
    const double error = sum - y;
    for (std::size_t k = 0; k < kHidden; ++k) {
      const double back = error * out[k] * (1 - hidden[k] * hidden[k]);
      out[k] -= rate * error * hidden[k];
      w1[k] -= rate * back * x1;
      w2[k] -= rate * back * x2;
      bias[k] -= rate * back;
    }
    out_bias -= rate * error;
    return error * error;
  }
};

struct Options {
  std::int64_t iterations = 100;
  std::string checkpoint;
  double sleep_ms = 0;
  std::string ledger;
  std::uint64_t seed = 1;
};

struct State {
  std::int64_t iteration = 0;  // done so far
  Network network;
};

// The mean loss of an iteration, whose points are the same whatever run it is done in.
double iterate(State& state, std::uint64_t seed) {
  Random random(seed * 1'000'003 + static_cast<std::uint64_t>(state.iteration));
  double loss = 0;
  for (int i = 0; i < kBatch; ++i) {
    const double x1 = random.uniform(-1, 1);
    const double x2 = random.uniform(-1, 1);
    loss += state.network.learn(x1, x2, std::sin(3 * x1) * x2, kRate);
  }
  ++state.iteration;
  return loss / kBatch;
}

[[noreturn]] void give_up(const std::string& what) {
  std::fprintf(stderr, "train_mlp: %s: %s\n", what.c_str(), std::strerror(errno));
  std::exit(1);
}

// There whole or not at all, whatever happens in between.
void save(const std::string& path, const State& state) {
  if (path.empty()) return;
  const std::string beside = path + ".new";
  std::ofstream file(beside);
  file.precision(17);
  file << state.iteration << '\n';
  for (const auto* weights :
       {&state.network.w1, &state.network.w2, &state.network.bias, &state.network.out}) {
    for (const double w : *weights) file << w << '\n';
  }
  file << state.network.out_bias << '\n';
  file.close();
  if (!file || std::rename(beside.c_str(), path.c_str()) != 0) give_up(path);
}

void load(const std::string& path, State& state) {
  std::ifstream file(path);
  if (path.empty() || !file) return;
  file >> state.iteration;
  for (auto* weights :
       {&state.network.w1, &state.network.w2, &state.network.bias, &state.network.out}) {
    for (double& w : *weights) file >> w;
  }
  if (!(file >> state.network.out_bias)) {
    std::fprintf(stderr, "train_mlp: %s: not a checkpoint of this program\n", path.c_str());
    std::exit(1);
  }
}

// One write, so that lines of several processes do not mix.
bool append(const char* path, const std::string& line, int flags) {
  const int file = ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | flags, 0644);
  if (file < 0) return false;
  const bool whole = ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  ::close(file);
  return whole;
}

void report(std::int64_t iteration, double loss) {
  const char* const path = std::getenv("BERTH_PROGRESS");
  if (path == nullptr || *path == '\0') return;
  std::ostringstream line;
  line.precision(17);
  line << "{\"iteration\":" << iteration << ",\"loss\":";
  if (std::isfinite(loss)) {
    line << loss;
  } else {
    line << "NaN";
  }
  line << "}\n";
  (void)append(path, line.str(), O_NONBLOCK);  // a report that is lost does not stop the job
}

// Lines "JOB ITERATION PID" of finished iterations. The state is saved before the line is written,
// so a run that was killed between the two has left no line: the next run adds it.
class Ledger {
 public:
  Ledger(std::string path, const State& state) : path_(std::move(path)) {
    const char* const job = std::getenv("BERTH_JOB");
    if (job != nullptr) job_ = job;
    const std::int64_t last = state.iteration - 1;
    if (!path_.empty() && last >= 0 && !has(last)) add(last);
  }
  void add(std::int64_t iteration) const {
    if (path_.empty()) return;
    const std::string line =
        start_of(iteration) + std::to_string(static_cast<long>(::getpid())) + "\n";
    if (!append(path_.c_str(), line, 0)) give_up(path_);
  }

 private:
  [[nodiscard]] std::string start_of(std::int64_t iteration) const {
    return job_ + " " + std::to_string(iteration) + " ";
  }
  [[nodiscard]] bool has(std::int64_t iteration) const {
    const std::string start = start_of(iteration);
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) {
      if (std::string_view(line).substr(0, start.size()) == start) return true;
    }
    return false;
  }

  std::string path_;
  std::string job_ = "-";
};

// Sleeps, but not longer than until the job is asked to leave.
void nap(double ms) {
  constexpr double kPieceMs = 50;
  for (; ms > 0 && asked_to_stop == 0; ms -= kPieceMs) {
    const double piece = ms < kPieceMs ? ms : kPieceMs;
    const timespec length{0, static_cast<long>(piece * 1e6)};
    ::nanosleep(&length, nullptr);
  }
}

[[noreturn]] void usage(int code) {
  std::fputs(
      "train_mlp [--iterations N] [--checkpoint FILE] [--sleep-ms MS] [--ledger FILE] [--seed N]\n",
      code == 0 ? stdout : stderr);
  std::exit(code);
}

double to_number(const char* text) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(value >= 0) || value > 1e15) usage(2);
  return value;
}

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    if (name == "--help") usage(0);
    if (i + 1 == argc) usage(2);
    const char* const value = argv[i + 1];
    if (name == "--iterations") {
      options.iterations = static_cast<std::int64_t>(to_number(value));
    } else if (name == "--checkpoint") {
      options.checkpoint = value;
    } else if (name == "--sleep-ms") {
      options.sleep_ms = to_number(value);
    } else if (name == "--ledger") {
      options.ledger = value;
    } else if (name == "--seed") {
      options.seed = static_cast<std::uint64_t>(to_number(value));
    } else {
      usage(2);
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = read_options(argc, argv);
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigaction(SIGUSR1, &action, nullptr);

  State state{0, Network(options.seed)};
  load(options.checkpoint, state);
  const Ledger ledger(options.ledger, state);
  while (state.iteration < options.iterations) {
    nap(options.sleep_ms);
    if (asked_to_stop != 0) break;
    const std::int64_t iteration = state.iteration;
    const double loss = iterate(state, options.seed);
    constexpr std::int64_t kSaveEvery = 1000;
    const bool due = !options.ledger.empty() || state.iteration % kSaveEvery == 0;
    if (due) save(options.checkpoint, state);
    ledger.add(iteration);
    report(iteration, loss);
  }
  save(options.checkpoint, state);
  const bool done = state.iteration >= options.iterations;
  std::printf("%s at iteration %lld\n", done ? "done" : "stopped",
              static_cast<long long>(state.iteration));
  return done ? 0 : kStopped;
}
