#include "net/h2/testing/tls_peer.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include "net/openssl.hpp"

namespace plim::net::h2 {
namespace {

int connect_to_loopback(std::uint16_t port) {
  int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  timeval limit{.tv_sec = 5, .tv_usec = 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  int yes = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return fd;
}

}  // namespace

TlsPeer::TlsPeer(std::uint16_t port, std::string_view offers, const KeyPair* certificate)
    : fd_(connect_to_loopback(port)),
      context_(SSL_CTX_new(TLS_client_method())),
      ssl_(nullptr),
      inflater_(nullptr) {
  if (certificate) {
    auto chain = read_certificates(certificate->certificate_pem);
    auto key = read_private_key(certificate->key_pem);
    EXPECT_EQ(SSL_CTX_use_certificate(context_, chain->front().get()), 1);
    EXPECT_EQ(SSL_CTX_use_PrivateKey(context_, key->get()), 1);
  }
  if (!offers.empty()) {
    EXPECT_EQ(
        SSL_CTX_set_alpn_protos(context_, reinterpret_cast<const unsigned char*>(offers.data()),
                                static_cast<unsigned>(offers.size())),
        0);
  }
  ssl_ = SSL_new(context_);
  SSL_set_fd(ssl_, fd_);
  EXPECT_EQ(SSL_connect(ssl_), 1) << openssl_error();
  EXPECT_EQ(nghttp2_hd_inflate_new(&inflater_), 0);
}

TlsPeer::~TlsPeer() {
  nghttp2_hd_inflate_del(inflater_);
  SSL_free(ssl_);
  SSL_CTX_free(context_);
  ::close(fd_);
}

std::string TlsPeer::agreed() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_, &name, &size);
  return std::string(reinterpret_cast<const char*>(name), size);
}

void TlsPeer::greet() {
  send(std::string(kPreface) + frame(kSettings, 0, 0));
}

void TlsPeer::send(std::string_view bytes) {
  while (!bytes.empty()) {
    int n = SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()));
    if (n <= 0) return;  // the server may have closed the connection
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

std::string request_fields(std::string_view method, std::string_view path, std::string_view more) {
  return field(":method", method) + field(":scheme", "https") + field(":path", path) +
         field(":authority", "test") + std::string(more);
}

void TlsPeer::request(std::uint32_t stream, std::string_view method, std::string_view path,
                      std::string_view fields, int flags) {
  send(frame(kHeaders, flags, stream, request_fields(method, path, fields)));
}

void TlsPeer::data(std::uint32_t stream, std::string_view bytes, int flags) {
  constexpr std::size_t kFrame = 16 << 10;
  while (bytes.size() > kFrame) {
    send(frame(kData, 0, stream, bytes.substr(0, kFrame)));
    bytes.remove_prefix(kFrame);
  }
  send(frame(kData, flags, stream, bytes));
}

bool TlsPeer::read_some() {
  char buffer[16 << 10];
  int n = SSL_read(ssl_, buffer, sizeof buffer);
  if (n <= 0) return false;
  received_.append(buffer, static_cast<std::size_t>(n));
  for (SeenFrame& seen : take_frames(received_)) {
    note(seen);
    frames.push_back(std::move(seen));
  }
  return true;
}

void TlsPeer::note(const SeenFrame& seen) {
  PeerAnswer& answer = answers_[seen.stream];
  if (seen.type == kData) answer.body += seen.payload;
  if (seen.type == kReset) answer.reset = number_at(seen.payload, 0);
  if (seen.type == kHeaders) {
    std::string_view block = seen.payload;
    for (int flags = 0; (flags & NGHTTP2_HD_INFLATE_FINAL) == 0;) {
      nghttp2_nv one{};
      auto taken = nghttp2_hd_inflate_hd2(inflater_, &one, &flags,
                                          reinterpret_cast<const std::uint8_t*>(block.data()),
                                          block.size(), 1);
      ASSERT_GE(taken, 0);
      block.remove_prefix(static_cast<std::size_t>(taken));
      if ((flags & NGHTTP2_HD_INFLATE_EMIT) == 0) continue;
      std::string name(one.name, one.name + one.namelen);
      std::string value(one.value, one.value + one.valuelen);
      if (name == ":status") answer.status = value;
      answer.headers += name + ": " + value + "\n";
    }
    nghttp2_hd_inflate_end_headers(inflater_);
  }
  bool ends = (seen.type == kData || seen.type == kHeaders) && (seen.flags & kEndStream) != 0;
  if (ends || seen.type == kReset) answer.ended = true;
}

const PeerAnswer& TlsPeer::answer(std::uint32_t stream) {
  while (!answers_[stream].ended && read_some()) {
  }
  return answers_[stream];
}

const std::vector<SeenFrame>& TlsPeer::read_all() {
  while (read_some()) {
  }
  return frames;
}

std::optional<std::uint32_t> TlsPeer::farewell() const {
  for (const SeenFrame& seen : frames)
    if (seen.type == kGoAway) return number_at(seen.payload, 4);
  return std::nullopt;
}

}  // namespace plim::net::h2
