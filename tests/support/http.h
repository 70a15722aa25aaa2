// A server on a thread of its own, and clients that send what they like.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "server/http.h"
#include "server/listener.h"
#include "support/temp_folder.h"

namespace berth::testing {

// Answers with what it was asked: "METHOD /a/b ?k=v; body=SIZE peer=UID". Some paths do more: see
// test_handler() in http.cpp.
[[nodiscard]] HttpResponse test_handler(const HttpRequest& request);

// On a Unix socket in a folder of its own, and on a free TCP port.
class TestServer {
 public:
  explicit TestServer(const std::function<void(HttpOptions&)>& change = {},
                      HttpHandler handler = test_handler);
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;
  ~TestServer();

  [[nodiscard]] HttpEndpoint unix_endpoint() const { return {.unix_path = unix_path()}; }
  [[nodiscard]] HttpEndpoint tcp_endpoint(const std::string& token = {}) const;
  [[nodiscard]] std::string unix_path() const { return folder_.file("s"); }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  // On the server's thread: streams may have more.
  void wake_streams();

 private:
  void run();
  void nudge();

  TempFolder folder_;
  std::unique_ptr<HttpServer> server_;
  std::uint16_t port_ = 0;
  Fd event_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> wake_{false};
  std::thread thread_;
};

class RawClient {
 public:
  explicit RawClient(const std::string& unix_path);
  explicit RawClient(std::uint16_t tcp_port);
  // False: the server has closed.
  bool send(std::string_view bytes);
  // Until `count` bytes or the end have come.
  [[nodiscard]] std::string receive(std::size_t count);
  // Until the server closes; "TIMEOUT" after a minute.
  [[nodiscard]] std::string receive_all();
  // Until `text` has come.
  std::string receive_until(std::string_view text);
  void half_close();

 private:
  bool fill();

  Fd socket_;
  std::string buffer_;
  bool timed_out_ = false;
};

// Sends the bytes, reads all that comes back.
[[nodiscard]] std::string ask(const std::string& unix_path, std::string_view bytes);
// "200" of "HTTP/1.1 200 OK...".
[[nodiscard]] std::string status_of(std::string_view response);
[[nodiscard]] std::string body_of(std::string_view response);

}  // namespace berth::testing
