/* The balloons with a contact of our own: a ball on a plane in ten lines, asked by the clocks. */
#include "tippe.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEED(condition) \
    do { \
        if (!(condition)) { \
            printf("line %d: %s: %s\n", __LINE__, #condition, tippe_error()); \
            return 1; \
        } \
    } while (0)

typedef struct {
    double radius;
    double normal[3]; /* of the floor, in its own frame and the world: it does not turn */
    long asked;
    double fails_after; /* height of the ball below which the function gives up [m] */
} balloon;

static int collide(void *user, int a, const double *pose_a, int b, const double *pose_b, double margin, int most,
                   tippe_point *points, tippe_contact *contact) {
    balloon *own = user;
    (void)margin;
    if (most < 1 || a == b) return 2;
    own->asked++;
    /* the floor is body 0; its normal points out of it */
    const double *floor = a == 0 ? pose_a : pose_b, *ball = a == 0 ? pose_b : pose_a;
    double height = 0;
    for (int i = 0; i < 3; i++) height += own->normal[i] * (ball[i] - floor[i]);
    if (height < own->fails_after) return 3;
    const double sign = a == 0 ? 1 : -1, w = ball[3], x = ball[4], y = ball[5], z = ball[6];
    /* the lowest point of the ball in its own frame: the rotation transposed */
    const double n[3] = {-own->radius * own->normal[0], -own->radius * own->normal[1], -own->radius * own->normal[2]};
    const double lowest[3] = {
        (1 - 2 * (y * y + z * z)) * n[0] + 2 * (x * y + w * z) * n[1] + 2 * (x * z - w * y) * n[2],
        2 * (x * y - w * z) * n[0] + (1 - 2 * (x * x + z * z)) * n[1] + 2 * (y * z + w * x) * n[2],
        2 * (x * z + w * y) * n[0] + 2 * (y * z - w * x) * n[1] + (1 - 2 * (x * x + y * y)) * n[2]};
    memset(points, 0, sizeof *points);
    for (int i = 0; i < 3; i++) {
        const double foot = ball[i] - floor[i] - height * own->normal[i];
        (a == 0 ? points->p_a : points->p_b)[i] = foot;
        (a == 0 ? points->p_b : points->p_a)[i] = lowest[i];
        points->normal_a[i] = sign * own->normal[i];
        points->normal_b[i] = -points->normal_a[i];
    }
    points->depth = own->radius - height;
    contact->count = 1;
    return 0;
}

/* Where the ball is at the end, by this function or, with none, by the scene's own geometry. */
static int end(const char *scene, const char *clock, balloon *own, double place[3]) {
    tippe_run *run = NULL;
    const char *pairs[] = {"floor,balloon"};
    const int opened = own == NULL ? tippe_open(scene, clock, NULL, 0, &run)
                                   : tippe_open_with(scene, clock, NULL, 0, pairs, 1, collide, own, &run);
    if (opened != 0) return 1;
    const int of[3] = {tippe_find(run, "balloon.position.x"), tippe_find(run, "balloon.position.y"),
                       tippe_find(run, "balloon.position.z")};
    const int went = tippe_advance(run, 3.0) != 0 || tippe_get(run, of, 3, place) != 0;
    tippe_close(run);
    return went;
}

int main(void) {
    const char *scenes[] = {"balloon_1", "balloon_2", "balloon_3"};
    const char *clocks[] = {"precise", "realtime"};
    for (int s = 0; s < 3; s++) {
        for (int c = 0; c < 2; c++) {
            const double tilt = s == 1 ? atan(1.0) : 0;
            balloon own = {0.5, {sin(tilt), 0, cos(tilt)}, 0, -1};
            double theirs[3], ours[3];
            NEED(end(scenes[s], clocks[c], NULL, theirs) == 0);
            NEED(end(scenes[s], clocks[c], &own, ours) == 0);
            NEED(own.asked > 100);
            for (int i = 0; i < 3; i++) {
                if (!(fabs(ours[i] - theirs[i]) < 1e-9)) {
                    printf("%s, %s: %.15g instead of %.15g\n", scenes[s], clocks[c], ours[i], theirs[i]);
                    return 1;
                }
            }
        }
    }
    /* one that gives up ends the run by name, in both clocks */
    for (int c = 0; c < 2; c++) {
        balloon own = {0.5, {0, 0, 1}, 0, 0.6};
        double place[3];
        NEED(end("balloon_1", clocks[c], &own, place) != 0);
        NEED(strstr(tippe_error(), "balloon") != NULL && strstr(tippe_error(), "returned 3") != NULL);
    }
    tippe_run *run = NULL;
    const char *wrong[] = {"floor,baloon"};
    NEED(tippe_open_with("balloon_1", NULL, NULL, 0, wrong, 1, collide, NULL, &run) == 1);
    NEED(strstr(tippe_error(), "there is no body \"baloon\"") != NULL);
    return 0;
}
