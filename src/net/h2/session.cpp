#include "net/h2/session.hpp"

#include <array>
#include <vector>

#include <nghttp2/nghttp2.h>

#include "base/result.hpp"

namespace plim::net::h2 {
namespace {

// nghttp2 copies names, in lower case, and values.
std::vector<nghttp2_nv> as_library_fields(std::span<const Field> fields) {
  auto bytes = [](std::string_view text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  };
  std::vector<nghttp2_nv> out;
  out.reserve(fields.size());
  for (const auto& [name, value] : fields)
    out.push_back({bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
  return out;
}

std::string_view as_text(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

struct FreeOption {
  void operator()(nghttp2_option* option) const { nghttp2_option_del(option); }
};

struct FreeCallbacks {
  void operator()(nghttp2_session_callbacks* callbacks) const {
    nghttp2_session_callbacks_del(callbacks);
  }
};

std::unique_ptr<nghttp2_option, FreeOption> library_options(const Settings& settings) {
  nghttp2_option* option = nullptr;
  PLIM_ASSERT(nghttp2_option_new(&option) == 0);
  nghttp2_option_set_no_auto_window_update(option, settings.windows_by_themselves ? 0 : 1);
  nghttp2_option_set_no_closed_streams(option, 1);
  nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation(
      option, settings.blanks_around_values ? 1 : 0);
  nghttp2_option_set_stream_reset_rate_limit(option, settings.resets_at_once,
                                             settings.resets_per_second);
  return std::unique_ptr<nghttp2_option, FreeOption>(option);
}

}  // namespace

struct Session::Callbacks {
  static Session& of(void* owner) { return *static_cast<Session*>(owner); }

  static int on_begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* owner) {
    bool request = frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
    if (of(owner).is_server() && request) of(owner).on_request_begins(frame->hd.stream_id);
    return 0;
  }

  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                       std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                       std::uint8_t, void* owner) {
    bool taken = of(owner).on_field(frame->hd.stream_id, as_text(name, name_size),
                                    as_text(value, value_size));
    return taken ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }

  static int on_data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                     std::size_t size, void* owner) {
    of(owner).on_data(id, as_text(data, size));
    return 0;
  }

  static int on_frame_received(nghttp2_session*, const nghttp2_frame* frame, void* owner) {
    Session& session = of(owner);
    bool ends_stream = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (frame->hd.type == NGHTTP2_GOAWAY) session.going_away_ = true;
    if (frame->hd.type == NGHTTP2_HEADERS)
      session.on_frame(Frame::headers, frame->hd.stream_id, ends_stream);
    if (frame->hd.type == NGHTTP2_DATA)
      session.on_frame(Frame::data, frame->hd.stream_id, ends_stream);
    return 0;
  }

  static int on_frame_sent(nghttp2_session* h2, const nghttp2_frame* frame, void* owner) {
    bool ends_stream = (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
                       (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (!of(owner).is_server() || !ends_stream) return 0;
    // Ask the peer to stop sending its request. Submitted earlier, this would overtake the
    // response.
    if (nghttp2_session_get_stream_remote_close(h2, frame->hd.stream_id) == 0)
      nghttp2_submit_rst_stream(h2, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
    return 0;
  }

  static int on_stream_close(nghttp2_session*, std::int32_t id, std::uint32_t code, void* owner) {
    of(owner).on_closed(id, code);
    return 0;
  }

  static int on_error(nghttp2_session*, int, const char* text, std::size_t size, void* owner) {
    of(owner).complaint_.assign(text, size);
    return 0;
  }

  static ssize_t read_body(nghttp2_session*, std::int32_t id, std::uint8_t* buffer,
                           std::size_t size, std::uint32_t* flags, nghttp2_data_source*,
                           void* owner) {
    BodyPart part = of(owner).read_body(id, {reinterpret_cast<char*>(buffer), size});
    if (part.end == BodyEnd::broken) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    if (part.end == BodyEnd::no && part.size == 0) return NGHTTP2_ERR_DEFERRED;
    if (part.end != BodyEnd::no) *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (part.end == BodyEnd::trailers) *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
    return static_cast<ssize_t>(part.size);
  }

  static nghttp2_data_provider body() { return {{.ptr = nullptr}, &read_body}; }

  static nghttp2_session* new_session(Session& owner, const Settings& settings) {
    nghttp2_session_callbacks* raw = nullptr;
    PLIM_ASSERT(nghttp2_session_callbacks_new(&raw) == 0);
    std::unique_ptr<nghttp2_session_callbacks, FreeCallbacks> callbacks(raw);
    nghttp2_session_callbacks_set_on_begin_headers_callback(raw, &on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(raw, &on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(raw, &on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(raw, &on_frame_received);
    nghttp2_session_callbacks_set_on_frame_send_callback(raw, &on_frame_sent);
    nghttp2_session_callbacks_set_on_stream_close_callback(raw, &on_stream_close);
    nghttp2_session_callbacks_set_error_callback2(raw, &on_error);
    auto option = library_options(settings);
    auto create = owner.is_server() ? &nghttp2_session_server_new2 : &nghttp2_session_client_new2;
    nghttp2_session* session = nullptr;
    PLIM_ASSERT(create(&session, raw, &owner, option.get()) == 0);
    return session;
  }
};

Session::Session(Role role, const Settings& settings) : role_(role) {
  session_.reset(Callbacks::new_session(*this, settings));
  submit_settings(settings);
}

Session::~Session() = default;

void Session::Free::operator()(nghttp2_session* session) const {
  nghttp2_session_del(session);
}

void Session::submit_settings(const Settings& settings) {
  std::array entries{
      nghttp2_settings_entry{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, settings.stream_window},
      nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, settings.max_header_bytes},
      is_server()
          ? nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, settings.max_streams}
          : nghttp2_settings_entry{NGHTTP2_SETTINGS_ENABLE_PUSH, 0}};
  int failed =
      nghttp2_submit_settings(session_.get(), NGHTTP2_FLAG_NONE, entries.data(), entries.size());
  PLIM_ASSERT(failed == 0);
  nghttp2_session_set_local_window_size(session_.get(), NGHTTP2_FLAG_NONE, 0,
                                        static_cast<std::int32_t>(settings.connection_window));
}

bool Session::receive(std::string_view bytes) {
  heard_ = true;
  auto taken = nghttp2_session_mem_recv(
      session_.get(), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (taken < 0 && complaint_.empty()) complaint_ = nghttp2_strerror(static_cast<int>(taken));
  deliver();
  return taken >= 0;
}

bool Session::send_into(std::string& out, std::size_t enough) {
  bool sound = true;
  while (out.size() < enough) {
    const std::uint8_t* bytes = nullptr;
    auto n = nghttp2_session_mem_send(session_.get(), &bytes);
    sound = n >= 0;
    if (n <= 0) break;
    out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(n));
  }
  deliver();
  return sound;
}

bool Session::finished() const {
  return !nghttp2_session_want_read(session_.get()) && !nghttp2_session_want_write(session_.get());
}

void Session::go_away() {
  if (std::exchange(going_away_, true)) return;
  nghttp2_submit_goaway(session_.get(), NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session_.get()), NGHTTP2_NO_ERROR,
                        nullptr, 0);
  on_output();
}

std::int32_t Session::submit_request(std::span<const Field> fields, Body body) {
  auto library_fields = as_library_fields(fields);
  auto provider = Callbacks::body();
  std::int32_t id =
      nghttp2_submit_request(session_.get(), nullptr, library_fields.data(), library_fields.size(),
                             body == Body::follows ? &provider : nullptr, nullptr);
  if (id < 0) going_away_ = true;
  on_output();
  return id;
}

void Session::submit_response(std::int32_t id, std::span<const Field> fields, Body body) {
  auto library_fields = as_library_fields(fields);
  auto provider = Callbacks::body();
  nghttp2_submit_response(session_.get(), id, library_fields.data(), library_fields.size(),
                          body == Body::follows ? &provider : nullptr);
  on_output();
}

void Session::submit_informational(std::int32_t id, std::span<const Field> fields) {
  auto library_fields = as_library_fields(fields);
  nghttp2_submit_headers(session_.get(), NGHTTP2_FLAG_NONE, id, nullptr, library_fields.data(),
                         library_fields.size(), nullptr);
  on_output();
}

void Session::submit_trailer(std::int32_t id, std::span<const Field> fields) {
  auto library_fields = as_library_fields(fields);
  nghttp2_submit_trailer(session_.get(), id, library_fields.data(), library_fields.size());
}

void Session::reset(std::int32_t id, ErrorCode code) {
  nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, id,
                            static_cast<std::uint32_t>(code));
  on_output();
}

void Session::resume(std::int32_t id) {
  nghttp2_session_resume_data(session_.get(), id);
  on_output();
}

void Session::consume_stream(std::int32_t id, std::size_t size) {
  nghttp2_session_consume_stream(session_.get(), id, size);
}

void Session::consume_connection(std::size_t size) {
  nghttp2_session_consume_connection(session_.get(), size);
}

}  // namespace plim::net::h2
