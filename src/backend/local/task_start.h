// From a request to a process that runs the user's program: as that user, in their directory, with
// exactly their arguments and environment.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "backend/local/task_group.h"
#include "backend/local/wire.h"

namespace berth::local {

// What the child of a fork() tells its supervisor, in one write to a pipe that closes with exec.
enum class StartStep : std::int32_t {
  kReady,  // all but exec is done
  kLimits,
  kUser,
  kDirectory,
  kProgram,
};
struct StartNote {
  std::uint32_t index = 0;  // within the request's tasks
  StartStep step = StartStep::kReady;
  std::int32_t error = 0;  // errno
};

// Everything a child needs, made before it is forked.
struct TaskStart {
  std::uint32_t index = 0;
  const LaunchRequest* request = nullptr;
  const TaskGroup* group = nullptr;
  std::vector<gid_t> groups;           // of the user
  std::vector<std::string> programs;   // in this order; the first that can be run
  std::vector<std::string> variables;  // NAME=VALUE
  int null_fd = -1;                    // standard input
  int out_fd = -1;
  int err_fd = -1;
  int notes_fd = -1;  // pipe for StartNote
  int go_fd = -1;     // -1: at once; else when a byte comes
  pid_t supervisor = 0;
};

// The variables of a task: later ones stand for earlier ones of the same name.
[[nodiscard]] std::vector<std::string> task_variables(const Environment& attempt,
                                                      const Environment& task);
// Where `program` may be: itself if it has a slash, else in the folders of PATH.
[[nodiscard]] std::vector<std::string> program_candidates(
    const std::string& program, const std::vector<std::string>& variables);
// The groups of a user, with the given one; that one alone for a user whom nobody knows.
[[nodiscard]] std::vector<gid_t> groups_of(const Credentials& user);

// Makes the child; -1: errno says why. A task alone (without go_fd) shares our memory until its
// exec, which is then known when this returns: no page is copied, which is most of what a start
// costs.
[[nodiscard]] pid_t fork_task(const TaskStart& start);

// "task 3: cannot start 'pythn': ..." for people.
[[nodiscard]] std::string start_note_text(const LaunchRequest& request, const StartNote& note);
// Whether what the job asks for can never be started, rather than not now.
[[nodiscard]] bool is_fault_of_job(const StartNote& note);

}  // namespace berth::local
