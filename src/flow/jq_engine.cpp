#include "flow/jq_engine.hpp"

#include <dlfcn.h>
#include <utility>

extern "C" {
#include <jq.h>
}
// An inline function of the header calls it, and g++ keeps that function although it is not used.
// We load libjq and do not link it.
#pragma weak jv_get_kind

namespace plim::flow {
namespace {

constexpr std::size_t kLargestResult = std::size_t{64} << 20;  // for one record

// The functions of libjq that we use, with the types of its header.
struct Library {
  decltype(&::jq_init) init = nullptr;
  decltype(&::jq_teardown) teardown = nullptr;
  decltype(&::jq_compile) compile = nullptr;
  decltype(&::jq_set_error_cb) set_error_cb = nullptr;
  decltype(&::jq_set_attr) set_attr = nullptr;
  decltype(&::jq_halted) halted = nullptr;
  decltype(&::jv_string) make_string = nullptr;
  decltype(&::jv_array) make_array = nullptr;
  decltype(&::jq_start) start = nullptr;
  decltype(&::jq_next) next = nullptr;
  decltype(&::jq_format_error) format_error = nullptr;
  decltype(&::jv_parse_sized) parse_sized = nullptr;
  decltype(&::jv_dump_string) dump_string = nullptr;
  decltype(&::jv_string_value) string_value = nullptr;
  decltype(&::jv_string_length_bytes) string_length = nullptr;
  decltype(&::jv_get_kind) get_kind = nullptr;
  decltype(&::jv_copy) copy = nullptr;
  decltype(&::jv_free) free = nullptr;
  decltype(&::jv_invalid_has_msg) has_message = nullptr;
  decltype(&::jv_invalid_get_msg) get_message = nullptr;
  bool complete = false;

  Library() {
    void* handle = ::dlopen("libjq.so.1", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return;
    complete = true;
    load(handle, "jq_init", init);
    load(handle, "jq_teardown", teardown);
    load(handle, "jq_compile", compile);
    load(handle, "jq_set_error_cb", set_error_cb);
    load(handle, "jq_set_attr", set_attr);
    load(handle, "jq_halted", halted);
    load(handle, "jv_string", make_string);
    load(handle, "jv_array", make_array);
    load(handle, "jq_start", start);
    load(handle, "jq_next", next);
    load(handle, "jq_format_error", format_error);
    load(handle, "jv_parse_sized", parse_sized);
    load(handle, "jv_dump_string", dump_string);
    load(handle, "jv_string_value", string_value);
    load(handle, "jv_string_length_bytes", string_length);
    load(handle, "jv_get_kind", get_kind);
    load(handle, "jv_copy", copy);
    load(handle, "jv_free", free);
    load(handle, "jv_invalid_has_msg", has_message);
    load(handle, "jv_invalid_get_msg", get_message);
  }

  template <class F>
  void load(void* handle, const char* name, F& to) {
    to = reinterpret_cast<F>(::dlsym(handle, name));
    complete = complete && to != nullptr;
  }

  // Takes ownership of the value.
  std::string text(jv value) const {
    jv string = get_kind(value) == JV_KIND_STRING ? value : dump_string(value, 0);
    std::string out(string_value(string), static_cast<std::size_t>(string_length(copy(string))));
    free(string);
    return out;
  }
};

const Library& library() {
  static const Library loaded;
  return loaded;
}

// Removes the prefix of "jq: error (at <unknown>): boom", which adds no information.
std::string without_prefix(std::string text) {
  constexpr std::string_view kPrefix = "jq: error (at <unknown>): ";
  if (text.starts_with(kPrefix)) text.erase(0, kPrefix.size());
  return text;
}

}  // namespace

struct JqProgram::State {
  jq_state* jq = nullptr;
  std::string errors;

  ~State() {
    if (jq != nullptr) library().teardown(&jq);
  }

  // Without this callback libjq writes to standard error.
  static void collect(void* self, jv message) {
    const Library& lib = library();
    std::string& errors = static_cast<State*>(self)->errors;
    if (!errors.empty()) errors += "; ";
    errors += without_prefix(lib.text(lib.format_error(message)));
  }
};

JqProgram::JqProgram(std::unique_ptr<State> state) : state_(std::move(state)) {}

JqProgram::~JqProgram() = default;
JqProgram::JqProgram(JqProgram&&) noexcept = default;

Result<JqProgram> JqProgram::compile(const std::string& text) {
  const Library& lib = library();
  if (!lib.complete) return fail(Code::unavailable, "libjq.so.1 is not installed (Debian: libjq1)");
  auto state = std::make_unique<State>();
  state->jq = lib.init();
  if (state->jq == nullptr) return fail(Code::internal, "cannot initialize jq");
  lib.set_error_cb(state->jq, State::collect, state.get());
  // Disables modules. Without this attribute libjq aborts at the word include.
  lib.set_attr(state->jq, lib.make_string("JQ_LIBRARY_PATH"), lib.make_array());
  if (lib.compile(state->jq, text.c_str()) == 0)
    return fail(Code::invalid,
                state->errors.empty() ? "jq cannot compile the program" : state->errors);
  return JqProgram(std::move(state));
}

Result<void> JqProgram::run(std::string_view record, std::vector<std::string>& out) {
  const Library& lib = library();
  out.clear();
  jv value = lib.parse_sized(record.data(), static_cast<int>(record.size()));
  if (lib.get_kind(value) == JV_KIND_INVALID) {
    lib.free(value);
    return fail(Code::invalid, "the record is not JSON");
  }
  lib.start(state_->jq, value, 0);
  std::size_t size = 0;
  jv result = lib.next(state_->jq);
  while (lib.get_kind(result) != JV_KIND_INVALID) {
    jv text = lib.dump_string(result, 0);
    out.emplace_back(lib.string_value(text),
                     static_cast<std::size_t>(lib.string_length(lib.copy(text))));
    lib.free(text);
    size += out.back().size() + sizeof(std::string);
    if (size > kLargestResult)
      return fail(Code::bad_request, "the program gives more than 64 MB of results for one record");
    result = lib.next(state_->jq);
  }
  // A program that halted gives no results for all later records, so fail instead of losing them.
  if (lib.halted(state_->jq) != 0) {
    lib.free(result);
    return fail(Code::bad_request, "the program halted");
  }
  if (lib.has_message(lib.copy(result)) != 0)
    return fail(Code::unknown, lib.text(lib.get_message(result)));
  lib.free(result);
  return {};
}

}  // namespace plim::flow
