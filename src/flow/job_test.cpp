#include "flow/job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plim::flow {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

CheckedJob check(std::string_view text) {
  auto value = parse_json(text);
  PLIM_ASSERT(value);
  return check_job(*value, 4);
}

// `extra` is text with members before two valid operations.
std::vector<std::string> errors(std::string_view extra) {
  return check(fmt::format(R"({{{}"operations":[{{"_op":"data_generator"}},{{"_op":"noop"}}]}})",
                           extra))
      .problems.errors;
}

std::vector<std::string> operation_errors(std::string_view operations) {
  return check(fmt::format(R"({{"operations":{}}})", operations)).problems.errors;
}

TEST(Job, fills_in_defaults) {
  auto checked = check(R"({"operations":[{"_op":"data_generator"},{"_op":"delay"}]})");
  ASSERT_TRUE(checked.job);
  EXPECT_THAT(checked.problems.warnings, IsEmpty());
  const Job& job = *checked.job;
  EXPECT_EQ(job.name, "Custom Job");
  EXPECT_EQ(job.workers, 4u);
  EXPECT_EQ(job.slicers, 1u);
  EXPECT_EQ(job.max_retries, 3u);
  EXPECT_FALSE(job.persistent);
  EXPECT_EQ(job.document.at("probation_window"), 300000);
  EXPECT_EQ(job.document.at("operations").at(1).at("ms"), 100);
  EXPECT_EQ(job.document.at("operations").at(0).at("size"), 5000);
}

TEST(Job, checking_the_filled_in_job_again_changes_nothing) {
  auto first = check(R"({"name":"x","assets":["standard"],"apis":[{"_name":"f","path":"/tmp"}],
    "operations":[{"_op":"data_generator"},{"_op":"file_exporter","_api_name":"f"}]})");
  ASSERT_TRUE(first.job);
  auto second = check_job(first.job->document, 1);
  ASSERT_TRUE(second.job);
  EXPECT_EQ(second.job->document, first.job->document);
  EXPECT_EQ(second.job->operations[1].options.at("path"), "/tmp");
}

TEST(Job, reports_errors_in_the_words_of_teraslice) {
  EXPECT_THAT(errors(R"("name":"",)"),
              ElementsAre("name: This field is required and must be of type string"));
  EXPECT_THAT(errors(R"("workers":0,)"),
              ElementsAre("workers: must be valid integer greater than zero"));
  EXPECT_THAT(errors(R"("slicers":1.5,)"),
              ElementsAre("slicers: must be valid integer greater than zero"));
  EXPECT_THAT(errors(R"("assets":"x",)"), ElementsAre("assets: assets need to be of type array"));
  EXPECT_THAT(errors(R"("assets":[1],)"),
              ElementsAre("assets: assets needs to be an array of strings"));
  EXPECT_THAT(errors(R"("assets":["mine"],)"), ElementsAre("assets: No assets found for \"mine\""));
  EXPECT_THAT(errors(R"("apis":{},)"), ElementsAre("apis: APIs is required to be an array"));
  EXPECT_THAT(errors(R"("apis":[{}],)"), ElementsAre("apis[0]: API requires an _name"));
  EXPECT_THAT(errors(R"("apis":[{"_name":"a"},{"_name":"a"}],)"),
              ElementsAre("apis[1]: Duplicate API configurations for a found"));
  EXPECT_THAT(errors(R"("env_vars":{"":"x"},)"), ElementsAre("env_vars: key must be not empty"));
  EXPECT_THAT(errors(R"("env_vars":{"K":""},)"),
              ElementsAre("env_vars: value for key \"K\" must be not empty"));
  EXPECT_THAT(errors(R"("env_vars":{"a=b":"x"},)"),
              ElementsAre("env_vars: key \"a=b\" must not have a ="));
  for (const char* level : {"loud", "t", "debug, info"})
    EXPECT_THAT(errors(fmt::format(R"("log_level":"{}",)", level)),
                ElementsAre("log_level: must be one of trace, debug, info, warn, error, fatal"));
  EXPECT_THAT(errors(R"("log_level":"warn","workers":2.0,)"), IsEmpty());
  EXPECT_EQ(check("[]").describe_errors(),
            "Validation failed for job config: Custom Job - 1 problem\n"
            "  a job must be an object, got array\n");
}

TEST(Job, says_what_is_wrong_with_operations) {
  constexpr std::string_view kTooFew =
      "operations: Operations need to be of type array with at least two operations in it";
  EXPECT_THAT(check("{}").problems.errors, ElementsAre(kTooFew));
  EXPECT_THAT(operation_errors(R"([{"_op":"data_generator"}])"), ElementsAre(kTooFew));
  EXPECT_THAT(operation_errors(R"([{"_op":"data_generator"},"noop"])"),
              ElementsAre("operations[1]: Invalid Operation config in operations, got string"));
  EXPECT_THAT(
      operation_errors(R"([{"_op":"data_generator"},{"_op":"nop"}])"),
      ElementsAre(HasSubstr("Unable to find module for operation: nop; the nearest are noop")));
  EXPECT_THAT(
      operation_errors(R"([{"_op":"data_generator"},{"_op":"noop","_connection":"es"}])"),
      ElementsAre(
          "operations[1]: Operation noop refers to connection \"es\" which is unavailable"));
  EXPECT_THAT(
      operation_errors(R"([{"_op":"noop"},{"_op":"data_generator"}])"),
      ElementsAre("operations[0]: noop is a processor; the first operation must be a reader",
                  "operations[1]: data_generator is a reader and can only be the first "
                  "operation"));
}

TEST(Job, warns_about_unsupported_actions_for_bad_records) {
  auto with = [](std::string_view action) {
    return check(fmt::format(R"({{"operations":[{{"_op":"data_generator"}},
      {{"_op":"noop","_dead_letter_action":{}}}]}})",
                             action))
        .problems;
  };
  EXPECT_THAT(with(R"("throw")").warnings, IsEmpty());
  EXPECT_THAT(
      with(R"("log")").warnings,
      ElementsAre("operations[1]._dead_letter_action: log is not supported yet; a bad record "
                  "fails its slice"));
  EXPECT_THAT(with("5").errors,
              ElementsAre("operations[1]._dead_letter_action: must be one of throw, log, none, or "
                          "an api"));
}

TEST(Job, says_what_is_wrong_with_settings_for_kubernetes) {
  EXPECT_THAT(errors(R"("ephemeral_storage":1,"kubernetes_image":"","prom_metrics_port":0,)"),
              ElementsAre("ephemeral_storage: must be true or false",
                          "kubernetes_image: This field is required and must be of type string",
                          "prom_metrics_port: must be a port"));
  EXPECT_THAT(
      errors(R"("cpu":1,"resources_limits_cpu":2,)"),
      ElementsAre("cpu: cpu/memory can't be mixed with resource settings of the same type."));
  EXPECT_THAT(errors(R"("targets":{},)"), ElementsAre("targets: must be array"));
  EXPECT_THAT(errors(R"("targets":[{"key":"zone"}],)"),
              ElementsAre(R"(targets[0]: needs to have a value: {"key":"zone"})"));
  EXPECT_THAT(errors(R"("targets":[{"key":"a","value":"b","constraint":"maybe"}],)"),
              ElementsAre("targets[0].constraint: must be one of required, preferred, accepted"));
  EXPECT_THAT(errors(R"("volumes":[{"path":"/data"}],)"),
              ElementsAre(R"(volumes[0]: needs to have a name: {"path":"/data"})"));
  EXPECT_THAT(
      errors(R"("external_ports":[45680],)"),
      ElementsAre("external_ports[0]: Port 45680 cannot be included in external_ports, it is "
                  "reserved by Teraslice."));
  EXPECT_THAT(errors(R"("pod_spec_override":{"a":1},)"),
              ElementsAre(HasSubstr("The Teraslice master must set 'kubernetes_overrides_enabled: "
                                    "true' to use pod_spec_override in a job.")));
}

TEST(Job, reports_all_problems_with_their_paths) {
  auto checked = check(R"({"name":"two","workers":-1,
    "operations":[{"_op":"data_generator"},{"_op":"delay","ms":"soon"}]})");
  EXPECT_FALSE(checked.job);
  EXPECT_EQ(
      checked.describe_errors(),
      "Validation failed for job config: two - 2 problems\n"
      "  workers: must be valid integer greater than zero\n"
      "  operations[1].ms: must be a positive integer or human readable string, such as 500 or "
      "\"5 seconds\"\n");
}

TEST(Job, says_that_only_operations_are_wrong) {
  const auto first_line = [](std::string_view operations) {
    const std::string text =
        check(fmt::format(R"({{"name":"n","operations":[{}]}})", operations)).describe_errors();
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(first_line(R"({"_op":"data_generator"},{"_op":"delay","ms":"soon"})"),
            "Validation failed for operation config: delay - 1 problem");
  EXPECT_EQ(first_line(R"({"_op":"data_generator","size":0,"slice_size":0},{"_op":"jq"})"),
            "Validation failed for operation config: data_generator, jq - 3 problems");
  EXPECT_EQ(first_line(R"({"_op":"data_generator","size":0},{"_op":"fliter"})"),
            "Validation failed for job config: n - 2 problems");
}

TEST(Job, unknown_keys_are_accepted_with_a_warning) {
  auto checked = check(R"({"wrokers":3,"operations":[{"_op":"data_generator","sise":3},
    {"_op":"noop"}]})");
  ASSERT_TRUE(checked.job);
  EXPECT_THAT(checked.problems.warnings,
              ElementsAre("operations[0].sise: unknown option; did you mean size?",
                          "wrokers: unknown property; the nearest is workers"));
}

TEST(Job, warns_about_properties_without_effect) {
  EXPECT_THAT(check(R"({"recycle_worker":5,"speculate":true,"operations":[
                {"_op":"data_generator"},{"_op":"noop"}]})")
                  .problems.warnings,
              ElementsAre("speculate: is not supported yet and has no effect",
                          "recycle_worker: is ignored; workers do not need it"));
}

TEST(Job, durations_are_milliseconds_or_words) {
  using std::chrono::milliseconds;
  EXPECT_EQ(*parse_human_duration(500), milliseconds(500));
  EXPECT_EQ(*parse_human_duration("5 minutes"), milliseconds(300'000));
  EXPECT_EQ(*parse_human_duration("1 second"), milliseconds(1000));
  EXPECT_EQ(*parse_human_duration("30s"), milliseconds(30'000));
  EXPECT_FALSE(parse_human_duration(-1));
  EXPECT_FALSE(parse_human_duration("soon"));
  EXPECT_FALSE(parse_human_duration("5 parsecs"));
}

TEST(Job, a_program_of_jq_is_compiled_before_anything_runs) {
  EXPECT_THAT(operation_errors(R"([{"_op":"data_generator"},{"_op":"jq","expr":".a |"}])"),
              ElementsAre(HasSubstr("operations[1].expr: ")));
  EXPECT_THAT(operation_errors(R"([{"_op":"data_generator"},{"_op":"jq"}])"),
              ElementsAre("operations[1].expr: needs either expr or file"));
}

TEST(Job, knows_which_guarantee_it_gives_and_why) {
  auto guarantee = [](std::string_view sender) {
    auto checked =
        check(fmt::format(R"({{"operations":[{{"_op":"data_generator"}},{}]}})", sender));
    PLIM_ASSERT(checked.job);
    return guarantee_of(*checked.job);
  };
  EXPECT_TRUE(guarantee(R"({"_op":"noop"})").exactly_once);
  EXPECT_TRUE(guarantee(R"({"_op":"file_exporter","path":"/x","idempotent":true})").exactly_once);
  Guarantee appending = guarantee(R"({"_op":"file_exporter","path":"/x"})");
  EXPECT_FALSE(appending.exactly_once);
  EXPECT_THAT(appending.reason, HasSubstr("idempotent"));
  EXPECT_FALSE(guarantee(R"({"_op":"stdout"})").exactly_once);
}

TEST(Job, may_be_yaml) {
  auto value = parse_job("operations:\n- _op: data_generator\n- _op: noop\n", "job.yaml");
  ASSERT_TRUE(value);
  EXPECT_TRUE(check_job(*value, 1).job);
}

}  // namespace
}  // namespace plim::flow
