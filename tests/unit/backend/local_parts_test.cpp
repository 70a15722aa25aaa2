// The parts that the backend of local processes is made of.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>

#include <array>

#include "backend/local/attempt_folder.h"
#include "backend/local/log_file.h"
#include "backend/local/process.h"
#include "backend/local/task_start.h"
#include "backend/local/wire.h"
#include "unit/backend/local_harness.h"

namespace berth::local {
namespace {

using berth::testing::Folder;
using berth::testing::text_of;

LaunchRequest some_request() {
  LaunchRequest request;
  request.key = "7.1";
  request.folder = "/data/attempts/7.1";
  request.user = {.uid = 12, .gid = 34};
  request.command = {"a", "", std::string("\xff\0x", 3)};
  request.directory = "/home";
  request.environment = {{"A", "1"}, {"B", ""}};
  request.tasks = {{.task = 3,
                    .environment = {{"RANK", "3"}},
                    .limits = {.cpu_milli = 1500, .memory_mib = 64, .cpus = {0, 7}}}};
  request.checkpoint_signal = 10;
  request.grace_us = 30'000'000;
  request.term_grace_us = 1;
  request.log_limit_bytes = -1;
  request.open_files = 1024;
  request.groups = {.unified = "u", .cpu = "c", .memory = "m"};
  return request;
}

TEST(LocalWire, BringsARequestWhole) {
  const LaunchRequest request = some_request();
  const std::string bytes = encode(request);
  const auto back = decode_request(bytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, request);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_request(std::string_view(bytes).substr(0, size))) << size;
  }
  EXPECT_FALSE(decode_request(bytes + "x"));
}

TEST(LocalWire, BringsAReportWhole) {
  const Report report{.kind = ReportKind::kRefused, .key = "1.1", .pid = 5, .why = "no"};
  const std::string bytes = encode(report);
  EXPECT_EQ(decode_report(bytes), report);
  EXPECT_FALSE(decode_report(std::string_view(bytes).substr(1)));
  std::string other = bytes;
  other[0] = 99;  // no such kind
  EXPECT_FALSE(decode_report(other));
}

TEST(LocalWire, SendsRequestsOfAnySize) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
  const Fd one(ends[0]);
  Fd other(ends[1]);
  Packet packet;
  EXPECT_EQ(receive_packet(one.get(), packet), ReceiveResult::kEmpty);
  LaunchRequest request = some_request();
  for (const std::size_t size : {std::size_t{1}, kMaxPacketBytes, std::size_t{3} << 20}) {
    request.environment[0].second.assign(size, 'x');
    ASSERT_EQ(send_request(other.get(), request.key, encode(request)), SendResult::kSent);
    ASSERT_EQ(receive_packet(one.get(), packet), ReceiveResult::kReceived);
    EXPECT_EQ(request_key(packet), request.key);
    EXPECT_EQ(request_of(packet), request);
  }
  other.reset();
  EXPECT_EQ(receive_packet(one.get(), packet), ReceiveResult::kClosed);
  EXPECT_EQ(send_request(one.get(), request.key, encode(request)), SendResult::kClosed);
}

TEST(LocalFolder, ReadsItsClaim) {
  const ProcessId id{.pid = 12, .start_ticks = 345, .boot_id = "boot"};
  const TaskProcess task{.task = 2, .pid = 13, .start_ticks = 346, .cpus = {0, 5}};
  const TaskProcess other{.task = 3, .pid = 14, .start_ticks = 347};
  const std::string text = claim_text(id) + claim_task_line(task) + claim_task_line(other);
  auto claim = parse_claim(text);
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->supervisor, id);
  ASSERT_EQ(claim->tasks.size(), 2U);
  EXPECT_EQ(claim->tasks[0].pid, 13);
  EXPECT_EQ(claim->tasks[0].cpus, (std::vector<std::uint32_t>{0, 5}));
  EXPECT_TRUE(claim->tasks[1].cpus.empty());
  claim = parse_claim(text.substr(0, text.size() - 1));  // cut short
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->tasks.size(), 1U);
  claim = parse_claim(claim_text(std::nullopt));
  ASSERT_TRUE(claim);
  EXPECT_FALSE(claim->supervisor);
  for (const char* bad : {"", "\n", "berth-claim", "berth-claim supervisor 1 2\n", "other 1 2 3\n",
                          "berth-claim supervisor -1 2 x\n", "berth-claim supervisor 1 x x\n"}) {
    EXPECT_FALSE(parse_claim(bad)) << bad;
  }
}

TEST(LocalFolder, IsClaimedOnce) {
  const Folder folder;
  auto first = make_claim(folder.path(), std::nullopt);
  ASSERT_TRUE(first);
  EXPECT_TRUE(*first);
  auto second = make_claim(folder.path(), identity_of(::getpid()));
  ASSERT_TRUE(second);
  EXPECT_FALSE(*second);
  EXPECT_EQ(text_of(folder.path() + "/claim"), claim_text(std::nullopt));
  EXPECT_FALSE(make_claim("/no/such/folder", std::nullopt));
}

TEST(LocalFolder, WritesItsEnd) {
  const Folder folder;
  AttemptEnd end;
  end.kind = AttemptEndKind::kStopped;
  end.why = "bytes \xff and \"quotes\"";
  end.tasks = {{.task = 1, .exit_code = 3, .cpu_us = 5}, {.task = 2, .signal = 9}};
  end.started_unix_us = 1;
  end.ended_unix_us = 2;
  auto file = EndFile::reserve(folder.path(), 2);
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->write(end));
  const std::string text = text_of(folder.path() + "/end");
  const auto back = parse_end(text, "end");
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(back->kind, end.kind);
  EXPECT_EQ(back->tasks.size(), 2U);
  EXPECT_EQ(back->tasks[0].exit_code, 3);
  EXPECT_EQ(back->tasks[1].signal, 9);
  EXPECT_EQ(back->ended_unix_us, 2);
  for (std::size_t size = 0; size + 1 < text.size(); ++size) {
    EXPECT_FALSE(parse_end(std::string_view(text).substr(0, size), "end")) << size;
  }
  EXPECT_FALSE(parse_end("{\"kind\": \"other\"}", "end"));
  EXPECT_FALSE(parse_end("[]", "end"));
}

TEST(LocalFolder, KnowsKeys) {
  for (const char* good : {"1", "7.1", "a-b.c", "0"}) EXPECT_TRUE(is_attempt_key(good)) << good;
  for (const char* bad : {"", ".", "..", ".a", "a/b", "A", "a b", "\xff"}) {
    EXPECT_FALSE(is_attempt_key(bad)) << bad;
  }
  EXPECT_TRUE(is_attempt_key(std::string(64, 'a')));
  EXPECT_FALSE(is_attempt_key(std::string(65, 'a')));
}

TEST(LocalLog, KeepsAtMostItsLimit) {
  const Folder folder;
  const std::string path = folder.path() + "/log";
  LogFile log(path, 10);
  log.write("abc");
  EXPECT_EQ(text_of(path), "abc");
  log.write("defgh");
  EXPECT_EQ(text_of(path + ".1"), "abcde");
  EXPECT_EQ(text_of(path), "fgh");
  log.write("0123456789abcdef");
  EXPECT_EQ(text_of(path + ".1"), "789ab");
  EXPECT_EQ(text_of(path), "cdef");
  log.finish();
  EXPECT_EQ(log.lost_bytes(), 0);
}

TEST(LocalLog, KeepsNothingWithoutALimit) {
  const Folder folder;
  LogFile log(folder.path() + "/log", 0);
  log.write("abc");
  log.finish();
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/log"));
}

TEST(LocalLog, CountsWhatItCannotWrite) {
  const Folder folder;
  LogFile log(folder.path() + "/not/there", 100);
  log.write("abc");
  log.write("de");
  EXPECT_EQ(log.lost_bytes(), 5);
  std::filesystem::create_directory(folder.path() + "/not");
  log.write("f");
  EXPECT_EQ(log.lost_bytes(), 0);
  EXPECT_EQ(text_of(folder.path() + "/not/there"),
            "\n[berth: 5 bytes of this log could not be written: No such file or directory]\nf");
}

TEST(LocalProcess, ReadsStat) {
  const auto stat = parse_process_stat(
      "42 (a b) ) (x) S 7 8 9 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 1 1 1");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->pid, 42);
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent, 7);
  EXPECT_EQ(stat->session, 9);
  EXPECT_EQ(stat->start_ticks, 12345U);
  for (const char* bad : {"", "42", "42 (a", "42 (a) S", "x (a) S 1 2 3", ") ("}) {
    EXPECT_FALSE(parse_process_stat(bad)) << bad;
  }
}

TEST(LocalProcess, OpensExactlyTheOneMeant) {
  ProcessId self = *identity_of(::getpid());
  EXPECT_TRUE(open_process(self));
  ProcessId other = self;
  ++other.start_ticks;
  EXPECT_FALSE(open_process(other));
  other = self;
  other.boot_id = "another";
  EXPECT_FALSE(open_process(other));
  other = self;
  other.pid = 0;
  EXPECT_FALSE(open_process(other));
}

TEST(LocalTask, ComposesItsVariables) {
  EXPECT_EQ(task_variables({{"A", "1"}, {"B", "2"}}, {{"B", "3"}, {"C", "4"}, {"C", "5"}}),
            (std::vector<std::string>{"A=1", "B=3", "C=5"}));
}

TEST(LocalTask, LooksForItsProgram) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(program_candidates("./x", {"PATH=/a"}), Names{"./x"});
  EXPECT_EQ(program_candidates("x", {"PATH=/a::/b"}), (Names{"/a/x", "./x", "/b/x"}));
  EXPECT_EQ(program_candidates("x", {}), (Names{"/usr/local/bin/x", "/usr/bin/x", "/bin/x"}));
}

}  // namespace
}  // namespace berth::local
