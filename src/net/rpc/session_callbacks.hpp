// What nghttp2 calls back. Only session*.cpp include this.
#pragma once

#include <nghttp2/nghttp2.h>

#include "net/rpc/session.hpp"

namespace plim::net::rpc {

inline constexpr std::uint32_t kMaxHeaderBytes = 16 << 10;  // of one call, either way

// These may submit frames, but must not send, receive or delete.
struct Session::Callbacks {
  static nghttp2_session* new_session(Session& owner);
  static nghttp2_data_provider body_of_stream();

  static int on_begin_headers(nghttp2_session* h2, const nghttp2_frame* frame, void* owner);
  static int on_header(nghttp2_session* h2, const nghttp2_frame* frame, const std::uint8_t* name,
                       std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                       std::uint8_t flags, void* owner);
  static int on_data(nghttp2_session* h2, std::uint8_t flags, std::int32_t id,
                     const std::uint8_t* data, std::size_t size, void* owner);
  static int on_frame_received(nghttp2_session* h2, const nghttp2_frame* frame, void* owner);
  static int on_frame_sent(nghttp2_session* h2, const nghttp2_frame* frame, void* owner);
  static int on_stream_close(nghttp2_session* h2, std::int32_t id, std::uint32_t code, void* owner);
  static int on_error(nghttp2_session* h2, int code, const char* text, std::size_t size,
                      void* owner);
  static ssize_t read_body(nghttp2_session* h2, std::int32_t id, std::uint8_t* buffer,
                           std::size_t size, std::uint32_t* flags, nghttp2_data_source* source,
                           void* owner);

 private:
  static void note_header(Stream& stream, std::string_view name, std::string_view value);
  static void check_answer(Session& session, const StreamPtr& stream);
};

}  // namespace plim::net::rpc
