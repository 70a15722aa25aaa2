#include "base/fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>

namespace berth {
namespace {

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

TEST(Fd, ClosesWhatItOwnsOnce) {
  const int first = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int second = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  {
    Fd owner(first);
    Fd other(second);
    other = std::move(owner);
    EXPECT_FALSE(is_open(second));
    EXPECT_TRUE(is_open(first));
    EXPECT_FALSE(owner);  // NOLINT(bugprone-use-after-move): moved from is empty
  }
  EXPECT_FALSE(is_open(first));
}

TEST(Fd, ReadsAtMostWhatIsAsked) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Fd from(ends[0]);
  Fd to(ends[1]);
  ASSERT_TRUE(write_whole(to.get(), "abcdef"));
  to.reset();
  EXPECT_EQ(read_whole(from.get(), 4), "abcd");
  EXPECT_EQ(read_whole(from.get(), 4), "ef");
  EXPECT_FALSE(read_file("/no/such/file", 10));
}

}  // namespace
}  // namespace berth
