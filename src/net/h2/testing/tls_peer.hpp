// A client that sends frames over TLS, with blocking reads. It sends anything, right or wrong.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/h2/testing/frames.hpp"
#include "net/x509.hpp"

struct nghttp2_hd_inflater;
struct ssl_ctx_st;
struct ssl_st;

namespace plim::net::h2 {

struct PeerAnswer {
  std::string status;   // of the last head: "100" may come before
  std::string headers;  // "name: value" lines of all heads
  std::string body;
  std::optional<std::uint32_t> reset;
  bool ended = false;  // complete or reset
};

class TlsPeer {
 public:
  // Reads give up after five seconds. `offers`: names of protocols in the format of ALPN.
  explicit TlsPeer(std::uint16_t port, std::string_view offers = "\x02h2\x08http/1.1",
                   const KeyPair* certificate = nullptr);
  ~TlsPeer();
  TlsPeer(const TlsPeer&) = delete;
  TlsPeer& operator=(const TlsPeer&) = delete;

  std::string agreed() const;  // the negotiated protocol
  void greet();                // sends preface and settings
  void send(std::string_view bytes);
  // Sends HEADERS of a request; `fields` are added to the four pseudo-headers.
  void request(std::uint32_t stream, std::string_view method, std::string_view path,
               std::string_view fields = {}, int flags = kEndHeaders | kEndStream);
  void data(std::uint32_t stream, std::string_view bytes, int flags = kEndStream);

  // Waits until the stream has ended, or the connection.
  const PeerAnswer& answer(std::uint32_t stream);
  // All frames until the connection ended.
  const std::vector<SeenFrame>& read_all();
  // The error code of the GOAWAY frame.
  std::optional<std::uint32_t> farewell() const;
  bool read_some();  // false at the end

  std::vector<SeenFrame> frames;

 private:
  void note(const SeenFrame& frame);

  int fd_;
  ssl_ctx_st* context_;
  ssl_st* ssl_;
  nghttp2_hd_inflater* inflater_;
  std::string received_;
  std::map<std::uint32_t, PeerAnswer> answers_;
};

std::string request_fields(std::string_view method, std::string_view path,
                           std::string_view more = {});

}  // namespace plim::net::h2
