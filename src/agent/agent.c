/* SPDX-License-Identifier: MIT */
/*
 * agent.c — the interface that the engine calls; which agent answers is its ops.
 */
#include "agent/agent.h"

#include <assert.h>

void agent_command(struct agent *agent, const struct agent_command *command)
{
    assert(command->attempt > 0);
    assert(command->kind != COMMAND_START || (command->launch && command->launch->argv));
    assert(command->kind != COMMAND_ADOPT || command->launch);
    assert(command->kind != COMMAND_CONTROL || command->control_json);
    assert(command->kind != COMMAND_PAUSE || turn_paused(command->turn));
    assert(command->kind != COMMAND_RESUME || (command->turn > 0 && !turn_paused(command->turn)));
    agent->ops->command(agent, command);
}

void agent_free(struct agent *agent)
{
    if (agent)
        agent->ops->free(agent);
}
