// filter, field operations, jq and exec: records in, records out.
#include <fcntl.h>
#include <map>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/fd.hpp"
#include "base/process.hpp"
#include "base/testing/temp_dir.hpp"
#include "flow/exec_frames.hpp"
#include "flow/jq_engine.hpp"
#include "flow/jq_native.hpp"
#include "flow/ops.hpp"

namespace plim::flow {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Records = std::vector<std::string>;

// A program that ends before it has read everything must not kill the test by SIGPIPE.
const bool kPrepared = (prepare_process(), true);

std::unique_ptr<Operation> make(std::string_view text) {
  auto given = parse_json(text);
  PLIM_ASSERT(given);
  const OpEntry* entry = find_op(text_at(*given, {"_op"}));
  PLIM_ASSERT(entry != nullptr);
  Problems problems;
  json::object options = check_options(entry->options, given->as_object(), "op", problems);
  if (entry->check != nullptr) entry->check(options, "op", problems);
  EXPECT_THAT(problems.errors, IsEmpty());
  auto made = entry->operation(options);
  PLIM_ASSERT(made);
  return std::move(*made);
}

Result<Records> run(Operation& operation, const Records& records) {
  Batch batch;
  for (const std::string& record : records) batch.records.push_back(batch.arena.copy(record));
  SliceContext context(system_clock());
  PLIM_CHECK(operation.process(context, batch));
  Records out;
  for (Record record : batch.records) out.emplace_back(record);
  return out;
}

Records run(std::string_view operation, const Records& records) {
  auto out = run(*make(operation), records);
  EXPECT_TRUE(out) << (out ? "" : out.error().message);
  return out.value_or(Records());
}

const Records kSome{R"({"n":1,"t":"a"})", R"({"n":2.5,"t":"b"})",
                    R"({"t":"b","n":30,"in":{"x":true}})"};

TEST(Filter, drops_records_that_match_or_with_invert_the_others) {
  EXPECT_THAT(run(R"({"_op":"filter","field":"t","value":"b"})", kSome), ElementsAre(kSome[0]));
  EXPECT_THAT(run(R"({"_op":"filter","field":"t","value":"b","invert":true})", kSome),
              ElementsAre(kSome[1], kSome[2]));
  EXPECT_THAT(run(R"({"_op":"filter","field":"n","value":1})", kSome),
              ElementsAre(kSome[1], kSome[2]));
  EXPECT_THAT(run(R"({"_op":"filter","field":"n","value":"1"})", kSome), ElementsAreArray(kSome))
      << "a text is not a number";
  EXPECT_THAT(run(R"({"_op":"filter","field":"in.x","value":true,"invert":true})", kSome),
              ElementsAre(kSome[2]));
  EXPECT_THAT(run(R"({"_op":"filter","field":"n","value":[1,30]})", kSome), ElementsAre(kSome[1]))
      << "any of them";
}

TEST(Filter, compares_numbers_and_texts) {
  EXPECT_THAT(run(R"({"_op":"filter","field":"n","value":2.5,"filter_by":"lt"})", kSome),
              ElementsAre(kSome[1], kSome[2]));
  EXPECT_THAT(run(R"({"_op":"filter","field":"n","value":2.5,"filter_by":"gte"})", kSome),
              ElementsAre(kSome[0]));
  EXPECT_THAT(run(R"({"_op":"filter","field":"t","value":"a","filter_by":"gt"})", kSome),
              ElementsAre(kSome[0]));
  EXPECT_THAT(run(R"({"_op":"filter","field":"in","filter_by":"exists","invert":true})", kSome),
              ElementsAre(kSome[2]));
}

TEST(Filter, looks_into_arrays) {
  const Records lists{R"({"l":["a","b"]})", R"({"l":["b"]})", R"({"l":[]})", R"({"l":"b"})"};
  EXPECT_THAT(run(R"({"_op":"filter","field":"l","value":"a"})", lists),
              ElementsAre(lists[1], lists[2], lists[3]));
  EXPECT_THAT(run(R"({"_op":"filter","field":"l","value":"b","array_index":0})", lists),
              ElementsAre(lists[0], lists[2], lists[3]));
  EXPECT_THAT(run(R"({"_op":"filter","field":"l","value":"b","array_index":9})", lists),
              ElementsAreArray(lists));
}

TEST(Filter, exceptions_stay) {
  EXPECT_THAT(run(R"({"_op":"filter","field":"t","value":"b",
                      "exception_rules":[{"field":"n","value":7},{"field":"n","value":30}]})",
                  kSome),
              ElementsAre(kSome[0], kSome[2]));
}

TEST(Filter, takes_patterns_and_ranges_of_addresses) {
  const Records people{R"({"ip":"28.127.246.12","name":"francis"})",
                       R"({"ip":"28.127.246.232","name":"joseph"})",
                       R"({"ip":"::1","name":"Johnson","tags":["a","B"]})", R"({"ip":7})"};
  EXPECT_THAT(
      run(R"({"_op":"filter","field":"name","value":"/^jo.*/i","filter_by":"regex"})", people),
      ElementsAre(people[0], people[3]));
  EXPECT_THAT(run(R"({"_op":"filter","field":"tags","value":["/^x/","/^b$/"],"filter_by":"regex"})",
                  people),
              ElementsAreArray(people));
  EXPECT_THAT(run(R"({"_op":"filter","field":"tags","value":"/b/i","filter_by":"regex",
                      "array_index":1,"invert":true})",
                  people),
              ElementsAre(people[2]));
  EXPECT_THAT(run(R"({"_op":"filter","field":"ip","value":["28.127.246.0/26","::/0"],
                      "filter_by":"ip_range"})",
                  people),
              ElementsAre(people[1], people[3]));
  EXPECT_THAT(run(R"({"_op":"filter","field":"ip","value":"::1","filter_by":"ip_range",
                      "exception_rules":[{"field":"name","value":"/son$/","regex":true}]})",
                  people),
              ElementsAreArray(people));
}

TEST(Filter, says_what_is_wrong_with_patterns_and_ranges) {
  auto mistake = [](const char* by, const json::value& value) {
    Problems problems;
    check_filter({{"field", "a"}, {"filter_by", by}, {"value", value}, {"array_index", -1}}, "op",
                 problems);
    return problems.errors.empty() ? "" : problems.errors[0];
  };
  EXPECT_EQ(mistake("regex", "/a/"), "");
  EXPECT_EQ(mistake("ip_range", "10.0.0.0/8"), "");
  EXPECT_THAT(mistake("regex", "abc"), HasSubstr("expected /pattern/flags"));
  EXPECT_THAT(mistake("regex", "/a/y"), HasSubstr("unknown flag y"));
  EXPECT_THAT(mistake("regex", json::array{"/a/", "/(/"}), HasSubstr("unmatched parenthesis"));
  EXPECT_THAT(mistake("regex", 5), HasSubstr("must be a string or a list of them"));
  for (const char* bad : {"10.0.0.0/33", "10.0.0.0/", "x", "10.0.0/8", "::/129", ""})
    EXPECT_THAT(mistake("ip_range", bad), HasSubstr("is not a range of addresses")) << bad;
}

TEST(Filter, a_slice_run_again_gives_the_same_result_after_any_other) {
  const Records twice{R"({"n":1,"n":2})"};
  auto filter = make(R"({"_op":"filter","field":"n","value":1})");
  auto first = *run(*filter, twice);
  ASSERT_TRUE(run(*filter, {R"({"t":"x","n":1})", R"({"n":7})"}));
  EXPECT_EQ(*run(*filter, twice), first);
}

TEST(Filter, sees_through_escapes) {
  EXPECT_THAT(run(R"({"_op":"filter","field":"t","value":"ä\"b"})", {R"({"t":"\u00e4\"b"})"}),
              IsEmpty());
}

TEST(Filter, a_record_that_is_not_an_object_fails_the_slice) {
  auto filter = make(R"({"_op":"filter","field":"t","value":"b"})");
  for (const char* bad : {"nonsense", "[1]", "{\"t\":", "\"t\"", "{\"t\" 1}", "{t:1}"}) {
    auto out = run(*filter, {kSome[0], bad});
    ASSERT_FALSE(out) << bad;
    EXPECT_EQ(out.error().message, "record 2 of the slice is not a JSON object");
  }
}

TEST(FieldOps, patch_and_leave_the_rest_as_it_was) {
  const Records odd{R"({ "n" : 1.000 , "t":"x" })", "{}", R"({"t":[1, 2]})"};
  EXPECT_THAT(run(R"({"_op":"set_field","field":"t","value":{"a":1}})", odd),
              ElementsAre(odd[0], R"({"t":{"a":1}})", odd[2]));
  EXPECT_THAT(run(R"({"_op":"set_field","field":"t","value":7,"overwrite":true})", odd),
              ElementsAre(R"({ "n" : 1.000 , "t":7 })", R"({"t":7})", R"({"t":7})"));
  EXPECT_THAT(
      run(R"({"_op":"copy_field","source":"t","destination":"u"})", odd),
      ElementsAre(R"({ "n" : 1.000 , "t":"x","u":"x" })", "{}", R"({"t":[1, 2],"u":[1, 2]})"));
  EXPECT_THAT(
      run(R"({"_op":"copy_field","source":"t","destination":"n","delete_source":true})", odd),
      ElementsAre(R"({ "n" : "x" })", "{}", R"({"n":[1, 2]})"));
  EXPECT_THAT(run(R"({"_op":"drop_field","field":"n"})", odd),
              ElementsAre(R"({ "t":"x" })", "{}", odd[2]));
  EXPECT_THAT(run(R"({"_op":"drop_field","field":"t"})", odd),
              ElementsAre(R"({ "n" : 1.000 })", "{}", "{}"));
}

TEST(FieldOps, find_keys_that_need_escapes) {
  EXPECT_THAT(
      run(R"({"_op":"set_field","field":"ü","value":2,"overwrite":true})", {R"({"\u00fc":1})"}),
      ElementsAre(R"({"\u00fc":2})"));
  EXPECT_THAT(run(R"({"_op":"drop_field","field":"a\"b\\"})", {R"({"a\"b\\":1,"c":2})"}),
              ElementsAre(R"({"c":2})"));
}

// A field that was set and parsed again equals the same change made by a parser.
RC_GTEST_PROP(FieldOps, setting_a_field_is_what_a_parser_would_do, ()) {
  json::object object;
  const auto keys = *rc::gen::container<std::vector<std::string>>(
      rc::gen::elementOf(std::vector<std::string>{"a", "b", "c", "d\"", "e\\", "f g"}));
  for (const std::string& key : keys) object[key] = *rc::gen::inRange(-5, 5);
  const auto field = *rc::gen::elementOf(std::vector<std::string>{"a", "d\"", "e\\", "z"});
  json::object options{
      {"_op", "set_field"}, {"field", field}, {"value", "new"}, {"overwrite", true}};
  auto operation = make_set_field(options);
  auto out = run(**operation, {to_json(object)});
  object[field] = "new";
  RC_ASSERT(out);
  RC_ASSERT(*parse_json(out->at(0)) == json::value(object));
}

TEST(Jq, maps_filters_and_flattens) {
  EXPECT_THAT(run(R"j({"_op":"jq","expr":"{m: (.n * 2)}"})j", kSome),
              ElementsAre(R"({"m":2})", R"({"m":5})", R"({"m":60})"));
  EXPECT_THAT(run(R"j({"_op":"jq","mode":"filter","expr":".t | test(\"b\")"})j", kSome),
              ElementsAre(kSome[1], kSome[2]));
  EXPECT_THAT(run(R"j({"_op":"jq","mode":"flatmap","expr":"range(.n; 3)"})j", kSome),
              ElementsAre("1", "2", "2.5"));
}

TEST(Jq, an_error_fails_the_slice_with_its_message) {
  auto out = run(*make(R"j({"_op":"jq","expr":"error(\"boom\")"})j"), {"{}"});
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().message, "record 1 of the slice: boom");
  EXPECT_FALSE(run(*make(R"({"_op":"jq","expr":"empty"})"), {"{}"}));
  EXPECT_FALSE(run(*make(R"({"_op":"jq","expr":".a.b"})"), {"{nonsense"}));
}

TEST(Jq, a_program_that_halts_or_never_ends_fails_the_slice_for_good) {
  for (const char* program : {"halt", "\\\"x\\\" | halt_error", "repeat(.)"}) {
    auto jq = make(fmt::format(R"({{"_op":"jq","mode":"flatmap","expr":"{}"}})", program));
    auto out = run(*jq, kSome);
    ASSERT_FALSE(out) << program;
    EXPECT_EQ(out.error().code, Code::bad_request) << out.error().message;
  }
}

TEST(Jq, modules_are_refused_and_do_no_harm) {
  for (const char* program : {R"(include "a"; .)", R"(import "a" as a; .)"}) {
    Problems problems;
    check_jq({{"expr", program}, {"mode", "map"}}, "operations[1]", problems);
    EXPECT_EQ(problems.errors.size(), 1u) << program;
  }
}

TEST(Jq, simple_comparisons_need_no_jq) {
  for (const char* simple :
       {".a == 1", ".a>=100 and .b == \"a\"", "(.a < 1 or .b != null) and .c == true"})
    EXPECT_NE(recognise_condition(simple), nullptr) << simple;
  for (const char* other : {".a", ".a == .b", ".a.b == 1", ".a == 1 | not", ".a == \"\\(1)\"",
                            ".a ==", "1 == .a", "(.a == 1", ".a == 1)", ".a == 1 andx .b == 2",
                            ".[\"a\"] == 1", ".a == 1 and", "", ".a == 1.2.3"})
    EXPECT_EQ(recognise_condition(other), nullptr) << other;
}

// The native filter and libjq agree on any record, also for values of different kinds.
RC_GTEST_PROP(Jq, comparisons_are_those_of_jq, ()) {
  const auto literal = *rc::gen::elementOf(
      std::vector<std::string>{"null", "true", "false", "0", "1.5", "\"\"", "\"a\"", "\"ä\""});
  const auto symbol =
      *rc::gen::elementOf(std::vector<std::string>{"==", "!=", "<", "<=", ">", ">="});
  const auto value = *rc::gen::elementOf(
      std::vector<std::string>{"null", "true", "false", "0", "-1", "1.5", "1e3", "\"\"", "\"a\"",
                               "\"b\"", "\"\\u00e4\"", "[]", "{}"});
  const bool there = *rc::gen::arbitrary<bool>();
  const std::string record = there ? fmt::format(R"({{"x":1,"f":{}}})", value) : R"({"x":1})";
  const std::string program = fmt::format(".f {} {}", symbol, literal);
  auto condition = recognise_condition(program);
  RC_ASSERT(condition != nullptr);
  Arena arena;
  FieldReader reader;
  auto answer = condition->test(arena.copy(record), reader);
  static std::map<std::string, JqProgram> compiled;
  auto at = compiled.find(program);
  if (at == compiled.end()) at = compiled.emplace(program, *JqProgram::compile(program)).first;
  std::vector<std::string> results;
  RC_ASSERT(at->second.run(record, results));
  RC_ASSERT((answer == Condition::Answer::yes) == (results.at(0) == "true"));
}

// A program with frames that doubles every record. Its arguments set what it does first.
const std::string kDoubler = R"py(
import sys, json, os
for line in sys.stdin:
    if '"_b"' in line[:8]:
        frame = json.loads(line)
        if frame["_b"] == "begin":
            print(json.dumps({"_b": "begin", "id": frame["id"]}))
        else:
            print(json.dumps({"_b": "end", "id": frame["id"]}), flush=True)
        continue
    record = json.loads(line)
    if record.get("die") and not os.path.exists(record["die"]):
        open(record["die"], "w").close()
        os.kill(os.getpid(), 9)
    if "refuse" in record:
        print(json.dumps({"_b": "error", "id": frame["id"], "message": "no",
                          "retryable": record["refuse"]}), flush=True)
    print(line, end="")
    print(line, end="")
)py";

std::string exec_of(const std::string& script, std::string_view more = "") {
  json::object options{
      {"_op", "exec"}, {"command", "python3"}, {"args", json::array{"-c", script}}};
  std::string text = to_json(options);
  text.pop_back();
  return text + std::string(more) + "}";
}

TEST(Delay, ends_when_another_worker_has_the_slice) {
  SliceContext context(system_clock());
  context.is_cancelled = [] { return true; };
  Batch batch;
  auto out = make(R"({"_op":"delay","ms":"1 hour"})")->process(context, batch);
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().code, Code::cancelled);
}

TEST(Exec, talks_in_frames_batch_after_batch) {
  auto exec = make(exec_of(kDoubler));
  EXPECT_THAT(*run(*exec, {kSome[0]}), ElementsAre(kSome[0], kSome[0]));
  EXPECT_THAT(*run(*exec, {}), IsEmpty());
  EXPECT_EQ(run(*exec, kSome)->size(), 6u);
}

TEST(Exec, a_program_killed_in_a_batch_fails_it_and_the_next_try_works) {
  testing::TempDir dir;
  auto exec = make(exec_of(kDoubler));
  const Records records{fmt::format(R"({{"die":"{}"}})", dir / "died")};
  auto first = run(*exec, records);
  ASSERT_FALSE(first);
  EXPECT_THAT(first.error().message, HasSubstr("killed by signal 9"));
  EXPECT_EQ(run(*exec, records)->size(), 2u);
}

TEST(Exec, an_error_frame_says_whether_to_try_again) {
  auto exec = make(exec_of(kDoubler));
  auto again = run(*exec, {R"({"refuse":true})"}), never = run(*exec, {R"({"refuse":false})"});
  ASSERT_FALSE(again || never);
  EXPECT_EQ(again.error().code, Code::unknown);
  EXPECT_EQ(never.error().code, Code::bad_request);
}

TEST(Exec, mode_map_needs_as_many_records) {
  auto exec = make(exec_of(kDoubler, R"(,"mode":"map")"));
  auto out = run(*exec, kSome);
  ASSERT_FALSE(out);
  EXPECT_THAT(out.error().message, HasSubstr("answered 6 records to 3"));
}

TEST(Exec, a_program_that_hangs_is_ended) {
  auto exec = make(R"({"_op":"exec","command":"sleep","args":["100"],"timeout":50})");
  auto out = run(*exec, kSome);
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().code, Code::timeout);
}

// The program and the one that it starts hold a FIFO open for writing, so its reader sees the end
// when both are dead.
TEST(Exec, a_cancelled_slice_kills_the_program_and_what_it_started) {
  for (const char* framing : {"none", "lines"}) {
    testing::TempDir dir;
    const std::string fifo = dir / "alive";
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    const Fd reader(::open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    auto exec = make(to_json(
        json::object{{"_op", "exec"},
                     {"command", "sh"},
                     {"args", json::array{"-c", "exec 9> $0; sleep 60 & echo >&9; wait", fifo}},
                     {"framing", framing},
                     {"timeout", 10'000}}));
    bool has_begun = false;
    SliceContext context(system_clock());
    context.is_cancelled = [&] {
      char byte = 0;
      return has_begun = has_begun || ::read(reader.get(), &byte, 1) == 1;
    };
    Batch batch;
    auto out = exec->process(context, batch);
    ASSERT_FALSE(out);
    EXPECT_EQ(out.error().code, Code::cancelled) << framing;
    pollfd end{.fd = reader.get(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&end, 1, 10'000), 1) << framing;
    EXPECT_EQ(end.revents, POLLHUP) << framing;
  }
}

TEST(Exec, plain_filters_work_as_they_are) {
  EXPECT_THAT(run(R"({"_op":"exec","framing":"none","command":"grep","args":["\"b\""]})", kSome),
              ElementsAre(kSome[1], kSome[2]));
  EXPECT_THAT(run(R"({"_op":"exec","framing":"none","command":"grep","args":["zzz"]})", kSome),
              IsEmpty());
  EXPECT_THAT(run(R"({"_op":"exec","framing":"none","command":"head","args":["-n1"]})", kSome),
              ElementsAre(kSome[0]));
  auto missing =
      run(*make(R"({"_op":"exec","framing":"none","command":"no-such-program"})"), kSome);
  EXPECT_FALSE(missing);
  auto loud = run(
      *make(
          R"({"_op":"exec","framing":"none","command":"sh","args":["-c","echo oh >&2; exit 3"]})"),
      kSome);
  ASSERT_FALSE(loud);
  EXPECT_THAT(loud.error().message, HasSubstr("exit code 3: oh"));
}

TEST(Exec, moves_megabytes_both_ways_without_blocking) {
  Records large(20'000, R"({"text":")" + std::string(300, 'x') + "\"}");
  EXPECT_EQ(run(R"({"_op":"exec","framing":"none","command":"cat"})", large), large);
}

TEST(ExecFrames, rejects_unexpected_answers) {
  for (const char* bad :
       {"{}\n", "{\"_b\":\"end\",\"id\":1}\n", "{\"_b\":\"begin\",\"id\":2}\n",
        "{\"_b\":\"begin\",\"id\":1}\n{\"_b\":\"begin\",\"id\":1}\n", "{\"_b\":\n"}) {
    FrameReply reply(1);
    EXPECT_FALSE(reply.feed(bad)) << bad;
  }
}

}  // namespace
}  // namespace plim::flow
